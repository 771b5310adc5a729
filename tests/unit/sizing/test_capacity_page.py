"""A capacity's page: every format has the same content, fits its width, and shows intervals."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from loadgo.documents.chart import png
from loadgo.documents.render import DOCUMENT_FORMATS
from loadgo.documents.table import Table
from loadgo.running.prepared import RunSettings
from loadgo.sizing.curve import ENDED_EARLY, MeasuredFigure, MixClass, Target, TargetVerdict
from loadgo.sizing.models.models import models_of
from loadgo.sizing.report.chart_data import axis_end, extended_curve, model_curve, response_scales
from loadgo.sizing.report.charts import capacity_charts
from loadgo.sizing.report.document import capacity_document
from loadgo.sizing.report.pictures import capacity_pictures
from loadgo.sizing.report.tables import has_value, slow_heading, value_cell
from loadgo.sizing.search.results import Capacity, Neighbours
from loadgo.sizing.site import prepare_site
from loadgo.theory.populations import Class as Population
from loadgo.theory.populations import Station, populations
from support.capacity_results import capacity_of, rows_by_name, table_titled
from support.known_capacity import BUSY, MEAN, P90, SERVERS, exact, exacts, mixed

CLASSES = (MixClass("heavy", 1), MixClass("ordinary", 3), MixClass("light", 6))
USERS = (5, 15, 30, 34, 36, 40)


@pytest.fixture(scope="module")
def made() -> Capacity:
    """The central server, with a target on p90."""
    return capacity_of(exacts(*USERS))


@pytest.fixture(scope="module")
def mix() -> Capacity:
    """The central server, with three classes of users."""
    kinds = [Population("heavy", 6, 20.0), Population("ordinary", 18, 10.0), Population("light", 36, 5.0)]
    network = populations(kinds, [Station("processors", (1.2, 0.6, 0.3), 2), Station("disk", (0.4, 0.2, 0.1))])
    points = [mixed([("heavy", n, 1.2), ("ordinary", 3 * n, 0.6), ("light", 6 * n, 0.3)], network) for n in (1, 2, 3)]
    return capacity_of(points, classes=CLASSES)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_fits_its_width_and_begins_with_the_answer(made: Capacity, mix: Capacity, width: int) -> None:
    for told in (made, mix, capacity_of(exacts(*USERS), (P90, MEAN, BUSY))):
        text = told.report(width=width)
        assert text.replace("\n", " ").startswith(told.in_words)
        assert max(map(len, text.splitlines())) <= width


def test_the_answer_is_marked_in_the_curve_and_beside_the_models(made: Capacity) -> None:
    told = rows_by_name(table_titled(made, "Simulated"))
    assert [users for users, cells in told.items() if "the answer" in cells] == ["34"]
    assert rows_by_name(table_titled(made, "Capacity by"))["simulated"][:2] == ("34", "33–35")


def test_each_model_has_its_capacity_interval_and_errors(made: Capacity) -> None:
    told = table_titled(made, "Capacity by")
    assert [one.heading for one in told.columns][1:6] == [
        "capacity",
        "interval",
        "throughput error",
        "response error",
        "error without 40",
    ]
    cells = rows_by_name(told)
    assert cells["mean values"][0] == "36"
    assert [cell.strip("+−") for cell in cells["mean values"][2:5]] == ["0.0 %"] * 3
    assert re.fullmatch(r"[+−]\d+\.\d %", cells["scalability law"][3])
    low, high = map(int, cells["bounds"][1].split("–"))
    assert low <= 36 <= high


def test_a_capacity_beyond_the_measured_points_has_a_star() -> None:
    told = rows_by_name(table_titled(capacity_of(exacts(5, 15, 25)), "Capacity by"))
    assert told["mean values"][0] == "36 *"


def test_the_table_of_demands_has_the_saturation_points(made: Capacity) -> None:
    told = rows_by_name(table_titled(made, "Service demands"))
    assert told["processors"] == ("2", "600 ms", "600 ms", "37.3 users")
    assert told["disk"][3] == "56.0 users"
    assert told["other delay"][1] == "400 ms"


def test_a_mix_shows_each_class_at_the_answer(mix: Capacity) -> None:
    found = table_titled(mix, "The mix")
    assert found.title == "The mix with 30 users"
    assert {name: cells[0] for name, cells in rows_by_name(found).items()} == {
        "heavy": "3",
        "ordinary": "9",
        "light": "18",
    }
    assert "mix: heavy 1, ordinary 3, light 6" in capacity_document(mix).about


def test_unusable_points_are_marked_with_the_reason() -> None:
    odd = replace(exact(15), steady=False, steady_why="the second half was 30 % slower than the first")
    broken = replace(exact(30), valid=False, steady_why="12 lines were sent too late", lost=7)
    page = capacity_document(capacity_of([exact(5), odd, broken, exact(34)]))
    notes = [line for label, line in page.notes if label == "Steady state"]
    assert notes[0] == "Steady with 5 and 34 users."
    assert "With 15 users: the second half was 30 % slower than the first." in notes
    assert page.warnings == (
        "With 30 users 7 records were lost.",
        "With 30 users the trials are not valid.",
    )
    first = page.sections[0]
    assert isinstance(first, Table)
    told = rows_by_name(first)
    assert ("not steady" in told["15"], "not valid" in told["30"]) == (True, True)
    assert ("Models", "Not used, since not steady or not valid: 15 and 30 users.") in page.notes


def test_notes_have_the_default_limit_and_the_ratio_of_a_quantile(made: Capacity) -> None:
    notes = dict(capacity_document(made).notes)
    assert "up to 200 users, the default limit" in notes["Search"]
    assert notes["Targets"] == (
        "models have mean times, so p90 < 5s becomes mean < 2.50 s: with 36 users, p90 was 2.00 times the mean."
    )
    assert "contention" in notes["Scalability law"]


def test_a_search_without_a_point_has_an_answer_and_nothing_else() -> None:
    stopped = replace(
        capacity_of([]),
        end="stopped",
        answer=None,
        interval=None,
        binding=None,
        saturates_first=None,
        in_words="Stopped.",
    )
    for form in DOCUMENT_FORMATS:
        assert "Stopped." in stopped.report(form)
    assert capacity_charts(stopped) == []


def test_json_is_complete_and_finite(made: Capacity) -> None:
    document = json.loads(made.report("json"))
    assert (document["format"], document["answer"], document["interval"], document["bad"]) == (1, 34, [33, 35], False)
    assert [point["users"] for point in document["points"]] == list(USERS)
    assert document["points"][0]["throughput"]["value"] == made.points[0].throughput.value
    assert document["models"]["law"]["law"]["alpha"] >= 0
    assert {one["by"] for one in document["models"]["holds"]} == {"mean values", "scalability law", "bounds"}
    infinite = replace(made, points=(replace(made.points[0], response_s={"mean": MeasuredFigure(float("inf"))}),))
    assert json.loads(infinite.report("json"))["points"][0]["response_s"]["mean"]["value"] is None


def test_markdown_and_html_escape_names_from_the_user() -> None:
    evil = Target("p90(<b>&|) < 5s", "p90", "<b>&|", "most", 5.0, 0.1)
    points = [replace(p, verdicts=(TargetVerdict(evil, "met", p.response_s["p90"], None),)) for p in exacts(5, 15, 30)]
    told = replace(capacity_of([], (evil,)), points=tuple(points), models=models_of(points, SERVERS))
    html = told.report("html")
    assert "p90(<b>" not in html
    assert "p90(&lt;b&gt;&amp;|) &lt; 5s" in html
    assert "\\|" in told.report("md")


def test_another_format_is_refused(made: Capacity) -> None:
    with pytest.raises(ValueError, match="is none of text, html, json, csv, md, svg, png"):
        made.report("pdf")


@pytest.mark.long
def test_every_chart_draws(made: Capacity, mix: Capacity) -> None:
    names = ["throughput", "response", "busy", "cost", "faults"]
    for told in (made, mix):
        drawn = capacity_charts(told)
        assert [one.name for one in drawn] == [f"capacity-{name}" for name in names]
    for one in capacity_charts(made):
        assert png(one).startswith(b"\x89PNG")
    html = made.report("html")
    assert all(f'id="chart-capacity-{name}"' in html for name in names)


def test_a_figure_that_was_not_measured_has_no_chart(made: Capacity) -> None:
    bare = tuple(replace(p, cost_user_hour=None, faults_a_command=None, utilisation={}) for p in made.points)
    told = replace(made, points=bare, models=models_of(bare, {}))
    assert [one.name for one in capacity_charts(told)] == ["capacity-throughput", "capacity-response"]
    assert "a user-hour" not in told.report(width=120)


def test_models_are_dashed_from_the_last_measured_point_on(made: Capacity) -> None:
    curve = model_curve(made, lambda at: at.throughput)
    inside = [float(str(one["users"])) for one in curve if not one["beyond"]]
    beyond = [float(str(one["users"])) for one in curve if one["beyond"]]
    assert (max(inside), min(beyond)) == (40, 40)
    assert extended_curve(made, "x", [(5, MeasuredFigure(1.0)), (40, MeasuredFigure(2.0))]) == [
        {"what": "x", "users": users, "value": value, "low": None, "high": None, "beyond": False}
        for users, value in ((5, 1.0), (40, 2.0))
    ]


def test_an_axis_ends_near_the_measured_figures(made: Capacity) -> None:
    dots = [{"value": 2.0, "low": None, "high": 3.0}]
    assert axis_end(dots) == pytest.approx(1.05 * 3.0)
    assert axis_end(dots, [{"value": 3.5}, {"value": 90.0}]) == pytest.approx(1.05 * 3.5)
    assert axis_end(dots, (), [5.0, 100.0]) == pytest.approx(1.05 * 5.0)
    assert axis_end([{"value": 0.0, "high": None}]) == 1.0


@pytest.mark.parametrize("width", [60, 80, 120])
def test_pictures_have_every_measured_point_and_fit(made: Capacity, width: int) -> None:
    throughput, response = capacity_pictures(made)
    lines = throughput.lines(width)
    assert max(map(len, lines)) <= width
    columns = {line.index("●") for line in lines[:10] if "●" in line}
    assert len(columns) >= 4
    assert any(line.startswith("● simulated") for line in lines)
    assert "Mean values: a queueing model" in " ".join(lines)
    told = "\n".join(response.lines(width))
    assert "● p90" in told
    assert "─ limit" in told
    assert "┊ answer" in told


def test_the_limit_is_drawn_on_the_scale_of_what_is_judged(made: Capacity) -> None:
    response = next(chart for chart in capacity_charts(made) if chart.name == "capacity-response")
    assert response.heading == "Response time: p90"
    assert "it is drawn times 2.00, as p90 was that many times the mean with 36 users." in response.caption
    rows = [row for data in response.spec["datasets"].values() for row in data]
    assert {row["what"] for row in rows if "beyond" not in row and "what" in row} == {"p90"}, "no mean beside the limit"
    (scale,) = response_scales(made)
    assert scale.ratio == pytest.approx(2.0)
    mean = next(model for model in made.models.models if model.name == "mean values") if made.models else None
    assert mean is not None
    at = mean.curve[3]
    drawn = next(row for row in rows if row.get("what") == "mean values" and row["users"] == at.users)
    assert drawn["value"] == pytest.approx(2.0 * at.response_s.value)


def test_each_judged_measure_has_a_chart_of_its_own() -> None:
    both = capacity_of(exacts(*USERS), (P90, MEAN))
    assert [scale.measure for scale in response_scales(both)] == ["p90", "mean"]
    names = [(chart.name, chart.heading) for chart in capacity_charts(both)]
    assert ("capacity-response", "Response time: p90") in names
    assert ("capacity-response-2", "Response time: mean") in names
    assert [scale.measure for scale in response_scales(capacity_of(exacts(*USERS), (BUSY,)))] == ["mean"]


def test_warnings_tell_a_stopped_search_a_busy_host_and_a_doubtful_fit(made: Capacity) -> None:
    assert capacity_document(replace(made, neighbours=Neighbours(0.04, 0.0, 0.08))).warnings == ()
    doubt = "The machine's fit is doubtful: its mean response is -54 % off."
    doubtful = replace(made, end="stopped", neighbours=Neighbours(0.41, 0.12, 0.77), fit_warnings=(doubt,))
    assert capacity_document(doubtful).warnings == (
        doubt,
        "The search was stopped: the answer comes from the complete trials.",
        "The host was busy with other things: 41.0 % of its processors' time over all trials (12.0 % to 77.0 % from "
        "trial to trial). The answer is for the host in that state, and a quiet one may support more users: search "
        "again when it is quiet. "
        "`loadgo meter --for 10s` shows the programs.",
    )


def test_a_price_names_its_tariff(made: Capacity) -> None:
    priced = replace(made, tariff="cloud: $0.10 an hour of the whole machine")
    assert dict(capacity_document(priced).notes)["Tariff"] == (
        "a user-hour is priced at cloud: $0.10 an hour of the whole machine."
    )
    cost = next(chart for chart in capacity_charts(priced) if chart.name == "capacity-cost")
    assert cost.caption.startswith("As measured, at cloud: $0.10 an hour of the whole machine.")
    assert json.loads(priced.report("json"))["tariff"] == priced.tariff


def test_one_point_has_no_picture() -> None:
    assert capacity_pictures(capacity_of([exact(5)])) == ()


def test_the_first_lines_have_the_settings_of_the_search(mix: Capacity) -> None:
    site = prepare_site("light", "ctss", RunSettings(think="exponential(8s)", typing=12.0, set=("processors.speed=2",)))
    assert site.settings == ("think exponential(8s)", "typing 12.0", "processors.speed=2")
    searched = replace(mix, script="light", on="ctss", settings=site.settings)
    first = capacity_document(searched).about[0]
    assert first == "light on ctss, think exponential(8s), typing 12.0, processors.speed=2"
    assert searched.to_dict()["settings"] == list(site.settings)


def test_the_first_screen_says_what_the_interval_is_and_whether_to_believe_it(made: Capacity) -> None:
    assert capacity_document(made).trust == (
        "Trust: high. The 95 % interval is 33 to 35 users: in 95 of 100 such searches it holds the true number. All 12 "
        "trials are valid and steady; the machine is simulated, so nothing else ran. This is a simulation: "
        "no real machine was measured."
    )
    for form in ("text", "md", "html"):
        shown = str(made.report(form))
        assert 0 < shown.index("Trust: high.") < shown.index("Simulated, by users")
    lines = str(made.report("text", width=80)).splitlines()
    assert any(line.startswith("Trust: ") for line in lines[:24])


def test_a_picture_says_what_the_interval_is_and_whether_to_believe_it(made: Capacity) -> None:
    picture = str(made.report("svg"))
    assert "Trust: high." in picture
    assert "the answer, 34 users, and the band around it its 95 % interval, 33 to 35." in picture


@pytest.mark.parametrize(
    ("changes", "trust"),
    [
        (
            {"interval": (34, 34)},
            "Trust: high. The 95 % interval is 34 users alone: in 95 of 100 such searches it holds",
        ),
        (
            {"on": "here", "neighbours": Neighbours(0.06, 0.01, 0.08)},
            "Trust: moderate: other programs took up to 8.0 % of the processors' time in a trial. The 95 % interval ",
        ),
        ({"on": "ssh://far"}, "Trust: moderate: what other programs took of the host was not measured. The 95 %"),
        (
            {"confidence": 0.8},
            "Trust: moderate: the confidence is 80 %, not 95 %. The 80 % interval is 33 to 35 users: in 80 ",
        ),
        ({"confidence": 0.0}, "Trust: low: the ends are only more likely than not. All 12 trials are valid"),
        ({"end": "stopped"}, "Trust: low: the warnings above say why. The 95 % interval is 33 to 35 users"),
        ({"interval": None}, ""),
    ],
)
def test_doubts_make_the_trust_moderate_and_warnings_make_it_low(
    made: Capacity, changes: dict[str, Any], trust: str
) -> None:
    shown = capacity_document(replace(made, **changes)).trust
    assert shown.startswith(trust)
    assert bool(shown) == bool(trust)


@pytest.mark.parametrize(("reason", "is_doubt"), [(ENDED_EARLY, False), ("the second half was slower", True)])
def test_a_trial_that_ended_early_on_purpose_lowers_no_trust(made: Capacity, reason: str, is_doubt: bool) -> None:
    most = replace(made.points[-1], steady=False, steady_why=reason)
    trust = capacity_document(replace(made, points=(*made.points[:-1], most))).trust
    assert ("the response times had not settled" in trust) == is_doubt
    assert trust.startswith("Trust: moderate" if is_doubt else "Trust: high")


def test_lines_without_an_answer_within_the_capacity_lower_the_trust(made: Capacity) -> None:
    """Beyond the capacity they are why a target is missed."""
    answer = made.answer or 0
    assert any(point.users > answer for point in made.points)
    points = tuple(replace(point, unanswered=3) for point in made.points)
    contained = [point for point in points if point.users <= answer]
    trust = capacity_document(replace(made, points=points)).trust
    assert trust.startswith("Trust: moderate: ")
    assert trust.count("lines had no answer") == len(contained) > 0


def test_a_quantile_of_lines_without_an_answer_is_never_and_not_few(made: Capacity) -> None:
    point = made.points[-1]
    without = replace(point, verdicts=tuple(replace(verdict, value=None) for verdict in point.verdicts))
    assert value_cell(without, 0) == "never"
    assert value_cell(replace(without, interactions=5), 0) == "few"


def test_a_target_of_one_command_has_no_column_of_words(made: Capacity) -> None:
    assert not has_value(replace(made.targets[0], command="edit"))
    assert slow_heading(replace(made.targets[0], command="edit")).startswith("edit slower than ")
