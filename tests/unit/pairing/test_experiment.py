"""Interleaved experiments on a simulated machine: verdicts, order, seeds, kept files, and refused arguments."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadArgument, Refused
from loadgo.pairing.document import experiment_document
from loadgo.pairing.experiment import ab, with_login
from loadgo.pairing.results import Experiment, Pair
from loadgo.pairing.run_figures import RunFigures
from loadgo.pairing.variant import Variant
from loadgo.pairing.words import advice
from loadgo.running.load import Load
from support.printed_rows import without_spans
from support.small_machine import laid


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script and a machine."""
    folder = tmp_path_factory.mktemp("ab")
    laid(folder)
    return folder


@pytest.fixture(scope="module")
def variant(place: Path) -> Variant:
    """The script on the machine as it is."""
    script, machine = laid(place)
    return Variant(script, on=str(machine))


@pytest.fixture(scope="module")
def faster(place: Path, variant: Variant) -> Experiment:
    """The machine with processors of twice the speed against the machine as it is."""
    fast = replace(variant, set=("processors.speed=2",))
    return ab(variant, fast, users=4, duration="2min", seed=5, out=place / "faster")


def test_twice_the_speed_halves_the_processor_time(faster: Experiment) -> None:
    assert faster.end == "decided"
    cpu, response = faster.change("cpu"), faster.change("response")
    assert cpu is not None
    assert response is not None
    assert cpu.interval is not None
    assert (cpu.verdict, response.verdict) == ("better", "better")
    assert cpu.relative == pytest.approx(-0.5, abs=0.02)
    assert cpu.interval.low <= cpu.relative <= cpu.interval.high < 0
    assert cpu.b / cpu.a == pytest.approx(0.5, abs=0.02)
    assert cpu.a == pytest.approx(math.exp(math.fsum(map(recorded_log_cpu, faster.pairs)) / len(faster.pairs)))


def test_both_runs_of_a_pair_have_one_seed_and_the_next_pair_has_the_next_seed(faster: Experiment) -> None:
    assert [pair.seed for pair in faster.pairs] == list(range(5, 5 + len(faster.pairs)))
    for pair in faster.pairs:
        seeds = [loadgo.tables(run.folder).conditions["load"]["seed"] for run in (pair.a, pair.b)]
        assert seeds == [pair.seed, pair.seed]


def test_each_variant_runs_first_in_one_of_two_pairs(faster: Experiment) -> None:
    firsts = [pair.first for pair in faster.pairs]
    assert all(set(firsts[number : number + 2]) == {"A", "B"} for number in range(0, len(firsts) - 1, 2))


SPANS = {
    "response": pl.col("ready_ns").cast(pl.Float64) - pl.col("sent_ns").cast(pl.Float64),
    "cpu": pl.col("cpu_user_ns").cast(pl.Float64) + pl.col("cpu_system_ns").cast(pl.Float64),
}
"""Each measure of an interaction as an expression of its recorded columns."""


def steady_rows(folder: Path) -> pl.DataFrame:
    """The recorded interactions of a run's steady part."""
    return loadgo.tables(folder).interactions.filter(pl.col("phase").cast(pl.String) == "steady")


def recorded_log_cpu(pair: Pair) -> float:
    """The logarithm of the mean processor time of A's recorded interactions."""
    return math.log(steady_rows(pair.a.folder).select(SPANS["cpu"].mean()).item())


def recorded_log_ratio(pair: Pair, measure: str) -> float:
    """The logarithm of B's mean over A's by the recorded interactions, in the commands' mix of both runs together."""
    means = [
        steady_rows(run.folder).group_by("command").agg(pl.len().alias("count"), SPANS[measure].mean().alias("mean"))
        for run in (pair.a, pair.b)
    ]
    both = means[0].join(means[1], on="command", suffix="_b")
    assert both.height == means[0].height == 3
    counts = both["count"] + both["count_b"]
    return math.log((both["mean_b"] * counts).sum() / (both["mean"] * counts).sum())


@pytest.mark.parametrize("measure", SPANS)
def test_a_change_is_the_mean_of_the_pairs_logarithms(faster: Experiment, measure: str) -> None:
    change = faster.change(measure)
    assert change is not None
    logs = [recorded_log_ratio(pair, measure) for pair in faster.pairs]
    assert change.logs == pytest.approx(logs)
    assert change.relative == pytest.approx(math.exp(sum(logs) / len(logs)) - 1)


def test_the_result_is_kept_beside_the_runs(faster: Experiment) -> None:
    document = json.loads((faster.folder / "experiment.json").read_text())
    assert document["end"] == "decided"
    assert document["pairs"][0]["a"]["folder"].endswith("-a")
    assert [pair["seed"] for pair in document["pairs"]] == [pair.seed for pair in faster.pairs]
    assert {path.name for path in faster.folder.iterdir()} == {
        "experiment.json", *(f"{number:03}-{side}" for number in range(1, len(faster.pairs) + 1) for side in "ab")
    }  # fmt: skip


@pytest.mark.parametrize("format", ["text", "html", "md", "json"])
def test_the_answer_is_in_each_format(faster: Experiment, format: str) -> None:
    answer = experiment_document(faster).answer
    assert "CPU is better (−" in answer
    shown = faster.report(format, width=200)
    assert answer in without_spans(shown.replace("\n", " "))


@pytest.mark.long
def test_the_chart_has_each_pair_the_interval_and_the_margin(faster: Experiment) -> None:
    spec = faster.chart().to_dict()
    rows = [row for data in spec["datasets"].values() for row in data]
    changes = {change.measure: change for change in faster.changes}
    assert [row["pair"] for row in rows if "pair" in row and row["measure"] == "CPU"] == [
        number for number, _ in enumerate(faster.pairs, 1)
    ]
    cpu = changes["cpu"]
    (whole,) = [row for row in rows if row.get("measure") == "CPU" and row["lane"] == "all"]
    assert cpu.interval is not None
    assert (whole["low"], whole["high"]) == pytest.approx((1 + cpu.interval.low, 1 + cpu.interval.high))
    assert whole["B is"] == "better"
    assert any((row.get("change"), row.get("upper")) == (1 / 1.05, 1.05) for row in rows)
    assert str(faster.report("svg")).startswith("<svg")
    assert "chart-pairs" in str(faster.report("html"))
    assert "<img" in faster._repr_html_()


@pytest.mark.parametrize("width", [80, 120])
def test_the_text_has_the_pairs_as_a_picture(faster: Experiment, width: int) -> None:
    lines = str(faster.report("text", width=width)).splitlines()
    begin = lines.index("How much each pair changed from A to B")
    picture = lines[begin + 1 : lines.index("", begin)]
    assert "●" in picture[0]
    assert "○" in picture[1]
    assert all(len(line) <= width for line in picture)
    assert "5 %, the margin" in picture[-1]


def test_the_first_screen_says_whether_to_believe_the_experiment(faster: Experiment) -> None:
    lines = str(faster.report("text", width=80)).splitlines()
    assert any(line.startswith("Trust: high. A and B ran in turn") for line in lines[:24])
    stopped = replace(faster, end="stopped")
    assert "Trust: low: the warnings above say why." in str(stopped.report("md"))
    few = replace(faster, pairs=faster.pairs[:1])
    assert (
        "Trust in the data: low: 1 pair of runs cannot give an interval, so chance may explain any of the changes. "
        "They cannot tell whether B changes response and CPU."
    ) in str(few.report("md"))


def test_one_variant_twice_has_no_difference(place: Path, variant: Variant) -> None:
    same = ab(variant, variant, users=2, duration="1min", out=place / "same")
    assert same.end == "decided"
    assert {change.verdict for change in same.changes} == {"no difference"}


def test_an_experiment_that_cannot_tell_says_how_many_more_pairs_would(place: Path, variant: Variant) -> None:
    slower = replace(variant, set=("processors.speed=0.99",))
    experiment = ab(variant, slower, users=4, duration="30s", margin="0.1%", most_pairs=5, out=place / "few")
    assert experiment.end == "most pairs"
    response = experiment.change("response")
    assert response is not None
    assert response.verdict == "cannot tell"
    document = experiment_document(experiment)
    assert any("pairs like these" in line for line in document.further_answers)
    assert document.warnings == (), "what to do next is no warning"


def test_a_command_runs_before_each_run_of_its_variant(place: Path, variant: Variant) -> None:
    marked = replace(variant, before=f"echo before >> {place}/marks", set=("processors.speed=3",))
    experiment = ab(variant, marked, users=2, duration="30s", most_pairs=2, out=place / "marked")
    assert (place / "marks").read_text().split() == ["before"] * len(experiment.pairs)


def test_the_error_of_a_failing_command_has_its_output(place: Path, variant: Variant) -> None:
    failing = replace(variant, before="echo no such device >&2; exit 3")
    with pytest.raises(Refused, match=r"before each run of B, `echo .*`, ended with 3: no such device"):
        ab(variant, failing, users=2, duration="10s", out=place / "failing")


def test_after_an_error_the_pairs_before_it_are_kept_and_named(place: Path, variant: Variant) -> None:
    once = replace(variant, before=f"mkdir {place}/once")
    with pytest.raises(Refused, match="File exists") as raised:
        ab(once, variant, users=2, duration="10s", margin="0.0001%", out=place / "error")
    document = json.loads((place / "error" / "experiment.json").read_text())
    assert len(document["pairs"]) == 1
    assert document["end"] is None
    assert any(str(place / "error") in text for text in raised.value.__notes__)


def test_the_result_file_exists_from_the_first_run_on(place: Path, variant: Variant) -> None:
    once = replace(variant, before=f"mkdir {place}/first-run")
    with pytest.raises(Refused, match="File exists"):
        ab(once, once, users=2, duration="10s", out=place / "one-run")
    document = json.loads((place / "one-run" / "experiment.json").read_text())
    assert (document["pairs"], document["end"]) == ([], None)


def test_passes_replace_the_default_duration(place: Path, variant: Variant) -> None:
    experiment = ab(variant, variant, users=2, passes=1, most_pairs=1, out=place / "passes")
    load = loadgo.tables(experiment.pairs[0].a.folder).conditions["load"]
    assert (load["passes"], load.get("duration_s")) == (1, None)


def test_a_warning_names_a_measure_that_is_not_known(faster: Experiment) -> None:
    without = [replace(pair, a=replace(pair.a, whole={**pair.a.whole, "throughput": None})) for pair in faster.pairs]
    made = replace(faster, pairs=tuple(without), decisive=("cpu", "throughput"), end="decided")
    page = experiment_document(made)
    assert any("without a verdict: throughput" in line for line in page.warnings)
    assert (
        "End",
        "The experiment ended because each of its measures that is known on both sides has a verdict.",
    ) in page.notes
    assert ("End", "The experiment ended because each of its measures has a verdict.") in experiment_document(
        replace(faster, decisive=("cpu",), end="decided")
    ).notes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measures": ("cpus",)}, "'cpus' is not a measure: write one of response, p90 response, cpu, throughput"),
        ({"margin": "0%"}, "write a percentage over 0"),
        ({"margin": float("nan")}, "write a percentage over 0"),
        ({"most_pairs": 0}, "at least 1"),
        ({"time_limit": "soon"}, "time_limit"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused(
    place: Path, variant: Variant, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(BadArgument, match=message):
        ab(variant, variant, out=place / "none", **arguments)  # type: ignore[arg-type]


def test_a_folder_that_is_not_empty_is_refused_unchanged(place: Path, variant: Variant, faster: Experiment) -> None:
    before = (faster.folder / "experiment.json").read_text()
    with pytest.raises(BadArgument, match="is not empty"):
        ab(variant, variant, out=faster.folder)
    assert (faster.folder / "experiment.json").read_text() == before


def test_a_host_and_a_simulated_machine_are_refused_as_variants(variant: Variant) -> None:
    with pytest.raises(BadArgument, match="one variant runs on a host and one on a simulated machine"):
        ab(variant, Variant("light"))


@pytest.mark.parametrize(
    ("far", "reason"),
    [
        ({"login": "ssh old"}, "`login` is for this host"),
        ({"limit": "cpus=1"}, "`limit` is for users of this host"),
        ({"set": ("processors.speed=2",)}, "`set` changes a simulated machine"),
    ],
)
def test_a_variant_on_another_host_has_no_log_in_limit_or_setting_of_its_own(
    place: Path, far: dict[str, Any], reason: str
) -> None:
    with pytest.raises(BadArgument, match=reason):
        ab(Variant("light", on="ssh://old", **far), "light", out=place / "far")


def test_sudo_is_for_agents_on_other_hosts() -> None:
    with pytest.raises(BadArgument, match="`sudo` is for another host"):
        ab("light", "light", sudo=True)


def test_a_log_in_to_a_simulated_machine_is_refused(variant: Variant) -> None:
    with pytest.raises(BadArgument, match="nobody logs in to a simulated machine"):
        ab(replace(variant, login="ssh host"), variant)


def test_the_log_in_of_a_script_is_part_of_its_variant(place: Path) -> None:
    (place / "far.toml").write_text('login = "ssh far"\nlines = ["ls"]\n')
    assert with_login(Variant(place / "far.toml")).description == f"{place}/far.toml, login `ssh far`"
    assert with_login(Variant(place / "far.toml", login="su - guest")).login == "su - guest"
    assert with_login(Variant("light")) == Variant("light")


def figures_at(folder: Path, response_ns: float) -> RunFigures:
    """The figures of a run with this mean response."""
    return RunFigures(
        folder, {"response": response_ns, "p90 response": None, "cpu": None, "throughput": None}, {}, 0, None
    )


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_forecast_comes_with_the_first_interval_and_not_before(count: int, tmp_path: Path) -> None:
    pairs = tuple(
        Pair(seed, "A", figures_at(tmp_path, 1.0), figures_at(tmp_path, ratio), (seed + 1) / 30)
        for seed, ratio in enumerate((0.9, 1.15, 1.02, 0.95)[:count])
    )
    script = Variant("light")
    experiment = Experiment(script, script, Load(), 0.05, ("response",), pairs, (), "most pairs", tmp_path)
    change = experiment.change("response")
    assert change is not None
    (line,) = advice(experiment)
    if count == 4:
        assert change.interval is not None
        assert change.more_pairs is not None
        assert line.startswith(f"response: {change.more_pairs} more pairs like these")
    else:
        missing = 4 - count
        assert change.interval is change.more_pairs is None
        more = f"run {missing} more pairs first: they give" if missing > 1 else "run 1 more pair first: it gives"
        assert line.startswith(f"response: {more} an interval, and say")


@pytest.mark.parametrize(("time_limit", "is_said"), [("79s", True), ("80s", False)])
def test_a_time_limit_too_short_for_an_interval_is_said_before_the_first_run(
    time_limit: str, is_said: bool, tmp_path: Path
) -> None:
    lines: list[str] = []

    script = tmp_path / "quick.toml"
    script.write_text('login = "sh"\nthink = "none"\nlines = ["true"]\n')
    side = Variant(script, before="false")
    with pytest.raises(Refused, match="the command before each run"):
        ab(side, side, duration="10s", time_limit=time_limit, progress=lines.append, out=tmp_path / "out")
    expected = (
        "The time limit of 79.0 s is too short for a verdict: an interval needs 4 pairs, whose 8 runs of 10.0 s take "
        "more than 80.0 s, with log-ins and warm-up"
    )
    length = "at most 30 pairs of runs of 10.0 s each, until each measure has a verdict"
    assert lines == [
        f"{length}: no pair begins that would end after {float(time_limit[:-1]):.1f} s",
        *([expected] if is_said else []),
    ]


@pytest.mark.parametrize(
    ("on", "end"), [("here", ": 10.0 min at most, without log-ins and warm-up"), ("multics-645", "")]
)
def test_the_longest_time_of_an_experiment_is_said_before_its_first_run(on: str, end: str, tmp_path: Path) -> None:
    lines: list[str] = []

    def note(line: str) -> None:
        lines.append(line)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ab(Variant("light", on=on), Variant("light", on=on), duration="10s", progress=note, out=tmp_path / "out")
    assert lines == [f"at most 30 pairs of runs of 10.0 s each, until each measure has a verdict{end}"]
