"""A speed-up taken apart of runs that are there: held to the simulated one, and what of the runs does not fit."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import loadgo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loadgo.attribution.causes import taken_apart
from loadgo.attribution.measured_runs import speedup_of
from loadgo.attribution.results import Change, Speedup
from loadgo.attribution.speedup import speedup
from loadgo.measures.account import RunAccount
from loadgo.stats.factors import exponential, exponential_interval
from loadgo.stats.resample import Interval
from support.small_machine import laid
from typer.testing import CliRunner

SPEED, FRAMES = "processors.speed=2", "memory.frames=96"
CHOICES: dict[str, tuple[str, ...]] = {"": (), "cpu": (SPEED,), "core": (FRAMES,), "core+cpu": (SPEED, FRAMES)}
SEEDS = (1, 2, 3, 4, 5)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured")
    laid(folder)
    return folder


def ran(room: Path, seed: int, set: tuple[str, ...], passes: int = 2, duration: str | None = None) -> Path:
    """A run on the small machine; one that was made already is not made again."""
    out = room / f"{seed}-{passes}-{duration}-{'-'.join(set)}"
    if not out.exists():
        machine = str(room / "small-machine.toml")
        asked = {"passes": passes} if duration is None else {"duration": duration}
        loadgo.run(room / "small.toml", on=machine, users=4, seed=seed, set=set, out=out, **asked)
    return out


def all_four(room: Path) -> dict[str, list[Path]]:
    return {choice: [ran(room, seed, values) for seed in SEEDS] for choice, values in CHOICES.items()}


@pytest.fixture(scope="module")
def measured(room: Path) -> Speedup:
    return speedup_of(all_four(room))


@pytest.mark.long
def test_runs_that_are_there_give_exactly_what_the_same_machines_give_when_simulated(
    room: Path, measured: Speedup
) -> None:
    simulated = speedup(
        room / "small.toml",
        on=str(room / "small-machine.toml"),
        changes=[f"cpu: {SPEED}", f"core: {FRAMES}"],
        users=4,
        passes=2,
        runs=len(SEEDS),
    )
    assert {one.measure for one in measured.causes} >= {"elapsed", "CPU", "response"}
    assert measured.causes == simulated.causes
    assert measured.bookkeeping == simulated.bookkeeping
    assert measured.seeds == simulated.seeds == SEEDS


def test_each_cause_has_its_interval_its_bracket_and_the_pair_that_interacts(measured: Speedup) -> None:
    for told in measured.causes:
        assert told.pair is not None
        assert set(told.pair.names) == {"cpu", "core"}
        assert told.interval is not None
        for cause in told.causes:
            assert cause.interval is not None
            assert cause.interval.holds(cause.factor)
            assert min(cause.first, cause.last) <= cause.factor <= max(cause.first, cause.last)
            assert cause.last / cause.first == pytest.approx(told.pair.factor, rel=1e-12)


def test_what_a_change_was_is_read_off_the_conditions(measured: Speedup) -> None:
    told = {change.name: change.set for change in measured.changes}
    assert told == {"cpu": ("machine processors.speed: 1 to 2",), "core": ("machine memory.frames: 64 to 96",)}
    assert measured.warnings == ()
    page = measured.report(width=100)
    assert "5 runs with each combination of the changes" in page
    assert "machine processors.speed: 1 to 2" in page


@pytest.mark.long
def test_what_differs_otherwise_than_by_the_changes_is_told_first(room: Path) -> None:
    runs = all_four(room) | {"core+cpu": [ran(room, seed, (SPEED, "memory.frames=128")) for seed in SEEDS]}
    speedup_result = speedup_of(runs)
    assert speedup_result.warnings[0] == (
        "machine memory.frames differs, and not by one of the changes: 64 with none of the changes; 64 with cpu; "
        "96 with core; "
        "128 with cpu+core."
    )


@pytest.mark.long
def test_runs_of_one_choice_that_are_not_alike_and_seeds_that_are_not_the_same_are_told(room: Path) -> None:
    runs = all_four(room)
    other = [*runs["cpu"][:4], ran(room, 9, (SPEED,), passes=3)]
    warnings = speedup_of(runs | {"cpu": other}).warnings
    assert "The runs with cpu differ among themselves in passes." in warnings
    assert "The combinations of the changes were not run with the same seeds." in warnings


def test_runs_that_end_at_a_time_are_taken_from_their_steady_part(room: Path) -> None:
    runs = {name: [ran(room, 1, values, duration="5min")] for name, values in (("", ()), ("cpu", (SPEED,)))}
    typed = loadgo.tables(runs[""][0]).interactions
    steady = typed.filter(typed["phase"].cast(str) == "steady")
    assert 0 < len(steady) < len(typed)
    cpu = next(one for one in speedup_of(runs).causes if one.measure == "CPU")
    assert cpu.before == pytest.approx((steady["cpu_user_ns"] + steady["cpu_system_ns"]).mean(), rel=1e-12)


def test_mistakes_are_refused_with_what_is_wrong(room: Path) -> None:
    a, b, c, d = (ran(room, seed, ()) for seed in SEEDS[:4])
    timed = ran(room, 1, (), duration="5min")
    for runs, message in (
        ({"": [a], "cpu": [b], "disk": [c]}, r"there are no runs with cpu\+disk: measure every combination"),
        ({"": [a], "cpu": []}, "there are no runs with cpu"),
        ({"cpu": [b]}, "there are no runs with none of the changes"),
        ({"": [a], "cpu": [a]}, "is named twice"),
        ({"": [a, b], "cpu": [c]}, "the same number of runs; there are 2 with none of the changes; 1 with cpu"),
        ({"": [a], "cpu+cpu": [b]}, "names a change twice"),
        ({"": [a]}, "0 changes: there must be 1 to 6"),
        ({"": [a], "+".join("abcdefg"): [b]}, "7 changes: there must be 1 to 6"),
        ({"": [a], "cpu": [timed]}, "some runs end after a time"),
    ):
        with pytest.raises(ValueError, match=message):
            speedup_of(runs)
    assert speedup_of({"": [a], "x+y": [b], " y ": [c], "x ": [d]}).runs == 1


def test_the_command_says_how_measured_runs_are_named() -> None:
    from loadgo.cli.app import app

    for text in ("zram", "zram=", "="):
        result = CliRunner().invoke(app, ["speedup", "--measured", text])
        assert result.exit_code == 2
        assert "write CHANGES=RUN,RUN" in result.output


above_0 = st.floats(1.0, 1e6)


@st.composite
def accounts(draw: st.DrawFn) -> RunAccount:
    """A run's account, with what a host tells; what no meter tells is up to half of the response, on either side."""
    time_ns = {name: draw(above_0) for name in ("user", "other programs", "page fault", "interrupt", "idle zero")}
    used = {name: draw(above_0) for name in ("cpu", "programs", "faults", "major faults", "paging wait")}
    used["response"] = (used["cpu"] + used["paging wait"]) * draw(st.floats(0.7, 2))
    return RunAccount(
        interactions=draw(st.integers(1, 1000)),
        elapsed_ns=sum(time_ns.values()) / 2,
        processors=2.0,
        time_ns=time_ns,
        counts={"page fault": draw(above_0)},
        used=used,
        charges={"default": draw(above_0)},
        alone=False,
    )


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.sampled_from([1, 2, 5]), st.data())
def test_the_factors_of_causes_and_of_chains_multiply_to_their_ratio(
    count: int, runs: int, data: st.DataObject
) -> None:
    drawn = [[data.draw(accounts()) for _ in range(runs)] for _ in range(1 << count)]
    changes = tuple(Change(f"c{number}") for number in range(count))
    made = taken_apart("drawn", changes, drawn, tuple(range(runs)), ())
    assert {one.measure for one in made.causes} == {"elapsed", "CPU", "response", "cost, default"}
    assert {one.measure for one in made.bookkeeping} == {"elapsed", "CPU", "response", "cost, default"}
    for told in made.causes:
        logs = [math.log(cause.factor) for cause in told.causes]
        assert abs(math.fsum(logs) - math.log(told.ratio)) <= 1e-12 * (1 + sum(map(abs, logs)))
    for chain in made.bookkeeping:
        for parts in (chain.links, chain.factors):
            logs = [one.log for one in parts]
            assert abs(math.fsum(logs) - math.log(chain.ratio)) <= 1e-12 * (1 + sum(map(abs, logs)))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_other_way_round_each_cause_is_one_over_itself(data: st.DataObject) -> None:
    drawn = [[data.draw(accounts())] for _ in range(4)]
    changes = (Change("a"), Change("b"))
    there, back = (taken_apart("drawn", changes, each, (1,), ()) for each in (drawn, drawn[::-1]))
    for one, other in zip(there.causes, back.causes, strict=True):
        for cause, inverse in zip(one.causes, other.causes, strict=True):
            assert is_inverse(cause.factor, inverse.factor)
            assert is_inverse(cause.first, inverse.last)


def is_inverse(factor: float, other: float) -> bool:
    """Whether two factors multiply to 1. The largest number stands for a factor beyond it."""
    if max(factor, other) == sys.float_info.max:
        return min(factor, other) <= 1 / sys.float_info.max
    return math.isclose(factor * other, 1, rel_tol=1e-12)


def test_a_factor_beyond_all_numbers_is_the_largest_number() -> None:
    assert (exponential(710.0), exponential(-800.0)) == (sys.float_info.max, 0.0)
    assert exponential_interval(Interval(0.0, 1e6)) == Interval(1.0, sys.float_info.max)


def test_an_interaction_that_chance_makes_is_not_called_one(measured: Speedup) -> None:
    cause = measured.causes[0].causes[0]
    assert cause.apart is not None
    wide = replace(cause, first=1.5, last=1.0, apart=replace(cause.apart, low=0.9, high=2.0))
    assert not wide.interacts
    assert replace(wide, apart=replace(cause.apart, low=1.2, high=1.8)).interacts
