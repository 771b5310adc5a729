"""The search over a limit: its notation, its trials, its answer, and the files that it recommends."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.errors import BadArgument
from loadgo.running.prepared import RunSettings
from loadgo.sizing.knobs.answer import KnobAnswer, answer_of, remedy, safe_value, taken_in_words
from loadgo.sizing.knobs.charts import knob_axis, knob_charts
from loadgo.sizing.knobs.find import knob_search
from loadgo.sizing.knobs.knob import parse_class_limits, parse_knob
from loadgo.sizing.knobs.recommend import ACCOUNT_TASKS
from loadgo.sizing.knobs.search import (
    CLOSE_OCTAVES,
    NARROW_RATIO,
    KnobStanding,
    KnobTrial,
    first_values,
    next_value,
    standing_of,
)
from loadgo.sizing.knobs.trust import knob_trust
from loadgo.sizing.search.curved_crossing import FEWEST_CURVED_TRIALS
from support.made_knobs import GOAL, KNOB, TRUE_CPUS, made_knob_capacity, search_of, searched
from support.made_trials import made_trial


def held_in(seeds: range, sense: float) -> int:
    """In how many seeds the interval holds the truth; each answer must be near it."""
    held_seeds = 0
    for seed in seeds:
        trials = searched(seed, sense=sense)
        standing = standing_of(KNOB, trials, GOAL)
        answer = answer_of(KNOB, standing, GOAL.targets, len(trials), stopped=False)
        assert answer.end == "found"
        assert standing.side == ("at most" if sense > 0 else "at least")
        assert answer.value == pytest.approx(TRUE_CPUS, rel=0.35)
        assert answer.interval is not None
        held_seeds += answer.interval[0] <= TRUE_CPUS <= answer.interval[1]
        safe = safe_value(KNOB, answer, standing)
        assert safe is not None
        assert (safe <= answer.value) == (sense > 0)
    return held_seeds


@pytest.mark.parametrize("sense", [1.0, -1.0], ids=["at most", "at least"])
def test_the_answer_is_near_the_truth(sense: float) -> None:
    assert held_in(range(2), sense) >= 1


@pytest.mark.statistical
@pytest.mark.parametrize("sense", [1.0, -1.0], ids=["at most", "at least"])
def test_the_interval_holds_the_truth_in_nearly_all_seeds(sense: float) -> None:
    assert held_in(range(100, 140), sense) >= 36


def test_a_range_without_a_crossing_is_answered_in_words() -> None:
    def stands(slow: float) -> str:
        trials = [KnobTrial(value, made_trial(60, 400, slow, index)) for index, value in enumerate(first_values(KNOB))]
        return answer_of(KNOB, standing_of(KNOB, trials, GOAL), GOAL.targets, 5, stopped=False).words

    assert stands(0.001) == "Every value from 0.25 processors to 8 processors each keeps p90 < 1s."
    assert stands(0.9).startswith("No value from 0.25 processors to 8 processors each")


def answer_where(stands: dict[float, str], trials: int = 5) -> KnobAnswer:
    standing = KnobStanding(stands, "at most", None, None)  # type: ignore[arg-type]
    return answer_of(KNOB, standing, GOAL.targets, trials, stopped=False)


@pytest.mark.parametrize(
    ("stands", "words", "interval"),
    [
        (
            {0.25: "open", 0.595: "met", 1.41: "met", 8: "met"},
            "Every tried value from 0.59 processors to 8 processors each keeps p90 < 1s. Not decided: 0.25 processors.",
            (0.595, 8),
        ),
        (
            {0.25: "missed", 1.41: "missed", 3.36: "open", 8: "open"},
            "No tried value from 0.25 processors to 1.4 processors each keeps p90 < 1s. "
            "Not decided: 3.4 processors and 8 processors.",
            None,
        ),
        (
            {0.25: "met", 1.41: "open", 8: "met"},
            "The tried values 0.25 processors and 8 processors each keep p90 < 1s. Not decided: 1.4 processors.",
            (8, 8),
        ),
        (
            {0.25: "met", 1.41: "open"},
            "The tried value 0.25 processors each keeps p90 < 1s. Not decided: 1.4 processors.",
            (0.25, 0.25),
        ),
        ({0.25: "open"}, "Not decided: 5 trials do not show whether a value of limit-each.cpus keeps p90 < 1s.", None),
    ],
)
def test_values_that_are_decided_are_told_beside_those_that_are_not(
    stands: dict[float, str], words: str, interval: tuple[float, float] | None
) -> None:
    answer = answer_where(stands)
    assert (answer.end, answer.words, answer.interval) == ("open", words, interval)
    assert answer.value == (None if interval is None else interval[1])
    standing = KnobStanding(stands, "at most", None, None)  # type: ignore[arg-type]
    assert safe_value(KNOB, answer, standing) is None
    assert remedy(answer, 30, 16) == (
        "Longer trials (`--shortest 120s`) or more of them (`--trials 32`) would narrow it."
    )


def test_one_trial_and_none_that_do_not_decide_are_told_in_good_grammar() -> None:
    assert answer_where({0.25: "open"}, 1).words.startswith("Not decided: 1 trial does not show whether")
    assert answer_where({}, 0).words.startswith("Not decided: no trial was complete")


def test_a_value_that_stays_open_gives_way_to_values_beside_it() -> None:
    """The lowest value has a tenth of slow interactions, and is open with any number of trials."""
    trials: list[KnobTrial] = []
    value: float | None = first_values(KNOB)[0]
    while value is not None and len(trials) < 8:
        trials.append(KnobTrial(value, made_trial(60, 400, 0.1 if value < 0.3 else 0.001, len(trials))))
        value = next_value(KNOB, trials, standing_of(KNOB, trials, GOAL))
    assert [each.value for each in trials][5:8] == [0.25, 0.386, 0.311]


def test_the_first_trials_spread_evenly_over_the_range_and_begin_in_the_middle() -> None:
    assert first_values(KNOB) == [1.41, 8, 0.25, 0.595, 3.36]
    assert first_values(parse_knob("limit-each.pids=10:160")) == [40, 160, 10, 20, 80]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cpus=1:2", "write a limit and its range"),
        ("limit-each.cpus=1", "write a limit and its range"),
        ("limit-each.cpus=2:2", "must end above"),
        ("limit-each.cpus=0:2", "cpus=0.5"),
        ("limit-each.nice=1:5", "limit-each.pids, limit-each.io can"),
        ("limit.pids=10:20", "limit.cpus, limit.memory can"),
        ("limit.hog.cpus=1:2", "cannot be varied"),
        ("limit-each.memory=1K:2G", "less than 1M"),
    ],
)
def test_a_wrong_range_is_told_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        parse_knob(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("limit-each.cpus=0:1", "`vary`: cpus=0 is not a number of processors"),
        ("limit-each.cpus=8:0.25", "`vary`: limit-each.cpus=8:0.25: the range must end above"),
        ("limit-each.cpus=1:2:3", "`vary`: limit-each.cpus=1:2:3: a range is LOW:HIGH"),
        ("limit-each.nice=1:5", "`vary`: limit-each.nice cannot be varied"),
    ],
)
def test_a_wrong_range_is_told_once_and_of_the_option_that_was_typed(text: str, told: str) -> None:
    with pytest.raises(BadArgument) as caught:
        parse_knob(text)
    assert str(caught.value).startswith(told)
    assert caught.value.arguments == ("vary",)


def test_a_value_replaces_its_own_limit_and_leaves_the_others() -> None:
    settings = RunSettings(limit="memory=1G", limit_each="memory=1G,cpus=4")
    both, by_class = KNOB.settings_at(0.5, settings, {"hog": "pids=9"})
    assert (both.limit_each, by_class) == ("memory=1G,cpus=0.5", {"hog": "pids=9,cpus=0.5"})
    of_class = parse_knob("limit-each.hog.memory=64M:4G")
    alone, by_class = of_class.settings_at(2**27, settings, {})
    assert (alone.limit_each, by_class) == (settings.limit_each, {"hog": "cpus=4,memory=134217728"})
    of_all, _ = parse_knob("limit.cpus=1:8").settings_at(2, settings, {})
    assert of_all.limit == "memory=1G,cpus=2"


def test_limits_by_class_are_read_and_their_mistakes_are_told() -> None:
    assert parse_class_limits(["cpus=2", "hog:cpus=0.5"], ["hog"]) == ("cpus=2", {"hog": "cpus=0.5"})
    for texts, said in (
        (["cpus=1", "cpus=2"], "twice"),
        (["dog:cpus=1"], "no class 'dog'"),
        (["hog:disk=1"], "cannot be limited"),
    ):
        with pytest.raises(BadArgument, match=said):
            parse_class_limits(texts, ["hog"])


def test_a_mix_has_as_many_users_as_its_weights() -> None:
    assert search_of().users == 60
    assert search_of(users=20).users == 20


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"targets": "throughput > 1/s"}, "ceiling"),
        ({"targets": "p90(fly) < 1s"}, "fly"),
        ({"limit_each": ["swine:cpus=1"]}, "no class"),
    ],
)
def test_what_cannot_be_searched_is_refused_before_anybody_logs_in(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        search_of(**changes)


def test_on_a_machine_a_curved_curve_is_followed_near_its_crossing_and_the_interval_covers() -> None:
    """Far below the crossing the curve is flat, and far above it steep: one line through all is off by a quarter."""

    def slow_at(value: float) -> float:
        octaves = math.log2(value / 1.9)
        return 1 / (1 + math.exp(math.log(9) - 1.5 * octaves - 0.6 * octaves * abs(octaves)))

    goal = replace(GOAL, live=False, most_trials=32)
    covered, searches = 0, 40
    for seed in range(searches):
        trials: list[KnobTrial] = []
        value: float | None = first_values(KNOB)[0]
        while value is not None and len(trials) < goal.most_trials:
            trials.append(KnobTrial(value, made_trial(60, 1500, slow_at(value), 1000 * seed + len(trials))))
            value = next_value(KNOB, trials, standing_of(KNOB, trials, goal))
        standing = standing_of(KNOB, trials, goal)
        answer = answer_of(KNOB, standing, goal.targets, len(trials), stopped=False)
        assert (answer.end, standing.side, standing.is_rough) == ("found", "at most", False)
        assert answer.interval is not None
        assert answer.interval[1] <= NARROW_RATIO * answer.interval[0]
        assert "by the curve through the trials near it" in answer.words
        near = [each for each in trials if abs(math.log2(each.value / 1.9)) < CLOSE_OCTAVES]
        assert len(near) >= FEWEST_CURVED_TRIALS
        covered += answer.interval[0] <= 1.9 <= answer.interval[1]
    assert covered >= 36, f"{covered} of {searches}"


def test_two_values_that_differ_by_chance_do_not_end_a_search_on_a_machine() -> None:
    goal = replace(GOAL, live=False)
    trials = [KnobTrial(value, made_trial(60, 400, slow, 7)) for value, slow in ((0.326, 0.01), (0.334, 0.5))]
    standing = standing_of(KNOB, trials, goal)
    assert standing.bracket == (0.326, 0.334)
    assert not standing.is_narrow(KNOB)
    assert standing_of(KNOB, trials, GOAL).is_narrow(KNOB), "on a host they do"


@pytest.mark.parametrize(
    ("vary", "on", "said"),
    [
        ("limit-each.memory=64M:1G", "ctss", "is for a host: on a machine, limit-each.cpus"),
        ("limit.cpus=1:8", "ctss", "is for a host: on a machine, limit-each.cpus"),
        ("limit-each.cpus=0.25:8", "ssh://login1", "for this host and for machines"),
    ],
)
def test_what_a_system_does_not_have_is_refused_in_words(vary: str, on: str, said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        knob_search(
            "light",
            on,
            vary,
            users=5,
            limit_each=[],
            targets="p90 < 1s",
            settings=RunSettings(),
            trial_s=30.0,
            most_trials=None,
            seed=1,
            tariff="default",
            out=None,
        )


def test_the_page_has_the_curve_and_files_to_put_in_place(tmp_path: Path) -> None:
    knob_capacity = made_knob_capacity(out=tmp_path)
    text = knob_capacity.report("text")
    assert knob_capacity.in_words in " ".join(text.split())
    assert "p90 over limit-each.cpus" in text
    assert "Files to put in place, below /etc" in text
    told = json.loads(knob_capacity.report("json"))
    assert told["knob"]["text"] == "limit-each.cpus"
    names = [line.partition(" processor")[0] for line in text.splitlines() if re.match(r"[\d.]+ processors  ", line)]
    assert len(names) == len(set(names)) == len(knob_capacity.points), "no two values have the same name"
    page = knob_capacity.report("html")
    assert "capacity-of-limit" in page
    assert "�" not in page
    assert page.count('<td class="kept verdict">missed') + page.count('<td class="kept verdict">met') > 2, (
        "the verdict stays on a phone"
    )
    slice_text = (tmp_path / "recommended/systemd/system/user-.slice.d/50-loadgo.conf").read_text()
    quota = float(slice_text.partition("CPUQuota=")[2].partition("%")[0])
    assert knob_capacity.interval is not None
    assert quota == pytest.approx(100 * knob_capacity.interval[0], rel=0.01)
    assert f"TasksMax={200 + ACCOUNT_TASKS}\n" in slice_text
    assert knob_capacity.in_words in slice_text
    assert f"nproc\t{200 + ACCOUNT_TASKS}\n" in (tmp_path / "recommended/security/limits.d/50-loadgo.conf").read_text()
    assert json.loads((tmp_path / "capacity-of-limit.json").read_text())["answer"] == knob_capacity.answer


@pytest.mark.parametrize(
    ("vary", "title", "label"),
    [
        ("limit-each.cpus=0.25:8", "limit-each.cpus (processors)", ""),
        ("limit-each.pids=20:800", "limit-each.pids (processes)", ""),
        ("limit-each.memory=64M:4G", "limit-each.memory", "' MB'"),
        ("limit-each.io=1M:100M", "limit-each.io", "'/s'"),
    ],
)
def test_the_axis_of_the_limit_has_its_unit(vary: str, title: str, label: str) -> None:
    axis = knob_axis(parse_knob(vary)).to_dict(validate=False)
    assert axis["title"] == title
    assert label in axis["axis"]["labelExpr"]


def test_a_point_under_the_pointer_has_its_limit_and_its_figure_with_their_units() -> None:
    (drawn,) = knob_charts(made_knob_capacity())
    rows = [row for rows in drawn.spec["datasets"].values() for row in rows if "limit" in row]
    assert rows
    assert all(row["limit"].partition(" ")[2].startswith("processor") for row in rows)
    assert all(row["measured"].endswith("s") for row in rows)


def test_recommended_files_tell_the_date_the_trust_other_work_and_what_was_added() -> None:
    answered = made_knob_capacity()
    for file in answered.recommended:
        comments = [line for line in file.content.splitlines() if line.startswith("#")]
        assert re.match(r"# loadgo capacity, \d{4}-\d\d-\d\d: 60 users", comments[0])
        assert "# " + knob_trust(answered, is_warned=False) in comments
        assert "# Other work was not measured in a trial." in comments
        assert "# Taken is the end of the 95 % interval on the side of the values that met the targets." in comments
        before, _, _ = file.content.partition(f"{200 + ACCOUNT_TASKS}\n")
        assert f"# 200 were tried, and {ACCOUNT_TASKS} are added for what else an account runs" in before


def test_a_recommended_value_between_two_tried_ones_claims_no_confidence() -> None:
    knob = parse_knob("limit-each.pids=5:200")
    standing = KnobStanding({30.0: "missed", 31.0: "met"}, "at least", (30, 31), None)
    answer = answer_of(knob, standing, GOAL.targets, 2, stopped=False)
    assert safe_value(knob, answer, standing) == 31
    assert taken_in_words(knob, answer, standing) == (
        "Taken is a value that met the targets in the trials; 30 processes missed them. Such a pair has no confidence."
    )


def test_a_jump_is_found_between_two_neighbours() -> None:
    """With 30 processes every line fails, and with 31 none."""
    knob = parse_knob("limit-each.pids=5:200")
    trials: list[KnobTrial] = []
    value: float | None = first_values(knob)[0]
    while value is not None and len(trials) < 16:
        trials.append(KnobTrial(value, made_trial(60, 400, 0.95 if value < 31 else 0.001, len(trials))))
        value = next_value(knob, trials, standing_of(knob, trials, GOAL))
    answer = answer_of(knob, standing_of(knob, trials, GOAL), GOAL.targets, len(trials), stopped=False)
    assert (answer.end, answer.value, answer.interval) == ("found", 31, (30, 31))
    assert answer.words == "At least 31 processes each keep p90 < 1s; 30 processes do not."


@pytest.mark.parametrize(
    ("vary", "changes", "said"),
    [
        ("limit-each.cpus=1:8", {"limit_each": ["cpus=2,pids=9"]}, "`limit_each=cpus=2,pids=9` fixes cpus"),
        ("limit-each.cpus=1:8", {"limit_each": ["hog-cpu:cpus=2"]}, r"one class: limit-each\.CLASS\.cpus"),
        ("limit-each.hog-cpu.cpus=1:8", {"limit_each": ["hog-cpu:cpus=2"]}, "leave cpus out of it$"),
        ("limit.cpus=1:8", {"settings": RunSettings(limit="memory=4G, cpus=1")}, "cpus=1` fixes cpus"),
    ],
)  # fmt: skip
def test_a_limit_that_is_fixed_cannot_be_varied_too(vary: str, changes: dict[str, object], said: str) -> None:
    """The search would overwrite it without a word."""
    with pytest.raises(BadArgument, match=said):
        search_of(vary=vary, **changes)


def test_one_class_may_be_varied_beside_the_same_limit_of_all_others() -> None:
    search = search_of(vary="limit-each.hog-cpu.cpus=1:8", limit_each=["cpus=4", "typical-user:pids=200"])
    assert search.knob.settings_at(2, search.settings, search.class_limits)[1]["hog-cpu"] == "cpus=2"
