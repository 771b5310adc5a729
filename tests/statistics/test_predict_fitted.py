"""From a few users to many, by way of a fit: predictions of machines that are known, as they are and changed.

The whole coverage, a hundred machines each fitted anew, is in `bench/bench_fit.py`.
"""

import random
from pathlib import Path

import loadgo
import pytest
from loadgo.comparison.compare import compare
from loadgo.fitting.fit import fit
from loadgo.prediction.figures import figures_of
from loadgo.records.prediction import ALL_COMMANDS
from loadgo.records.tables import tables
from support import small_machine
from support.fitted_machine import SCRIPT, truth

pytestmark = pytest.mark.statistical

CHANGE = ["processors.count=4", "storage.disk.service=exponential(1ms)"]
"""A machine of twice the processors and a disk five times as fast."""


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("from-few-to-many")
    (folder / "script.toml").write_text(SCRIPT)
    return folder


def fitted(room: Path, place: int) -> tuple[Path, Path]:
    """A machine drawn from what `fitted_machine` believes in, and one that is fitted to 5 users on it."""
    drawn = random.Random(place)
    known, found = room / f"truth-{place}.toml", room / f"fitted-{place}.toml"
    if not found.exists():
        known.write_text(truth((drawn.gauss(0, 1), drawn.gauss(0, 1), drawn.gauss(0, 1))))
        few = room / f"few-{place}"
        loadgo.run(room / "script.toml", on=str(known), users=5, passes=40, seed=100 + place, out=few)
        fit(few, output=found)
    return known, found


def test_an_interval_from_five_users_holds_what_twenty_show(room: Path) -> None:
    """At least 21 of 25 figures, from 5 machines, lie in their 95 % intervals."""
    covered: dict[tuple[int, str], bool] = {}
    for place in range(5):
        known, found = fitted(room, place)
        out = room / f"many-{place}"
        loadgo.run(room / "script.toml", on=str(known), users=20, seed=200 + place, out=out)
        shown = figures_of(tables(out), "steady")
        script, below = room / "script.toml", room / f"foretold-{place}"
        run = loadgo.run(script, on=str(found), users=20, seed=300 + place, draws=8, out=below)
        assert run.summary.prediction is not None
        told = [figure for figure in run.summary.prediction.figures["steady"] if figure.command == ALL_COMMANDS]
        covered |= {
            (place, figure.measure): figure.interval.holds(shown[ALL_COMMANDS, figure.measure]) for figure in told
        }
    assert len(covered) == 25
    assert sum(covered.values()) >= 21, covered


def test_a_changed_machine_is_foretold_from_the_fit_of_the_old_one(room: Path) -> None:
    known, found = fitted(room, 0)
    script = room / "script.toml"
    before = loadgo.run(script, on=str(known), users=20, passes=40, seed=7, out=room / "old")
    after = loadgo.run(script, on=str(known), users=20, passes=40, set=CHANGE, seed=8, out=room / "new")
    out = room / "foretold-new"
    run = loadgo.run(script, on=str(found), users=20, passes=40, set=CHANGE, seed=9, draws=8, out=out)
    judged = {one.measure: one for one in compare(run, after, judge=True, within="60%").judged}
    assert {one.judgement for one in judged.values()} == {"inside"}, judged
    assert {one.judgement for one in compare(run, before, judge=True, within="60%").judged} != {"inside"}
    assert judged["response"].doubt is not None


def test_more_memory_and_a_faster_drum_are_what_ifs_of_a_machine_that_pages(room: Path) -> None:
    script, machine = small_machine.laid(room)
    ladder = [
        loadgo.run(script, on=str(machine), users=5, passes=20, set=[f"memory.frames={frames}"], out=room / f"{frames}")
        for frames in (32, 128)
    ]
    found = room / "pages.toml"
    fit(*ladder, output=found)
    changes = {"little": "memory.frames=32", "much": "memory.frames=128", "drum": "storage.drum.revolution=2ms"}
    means = {}
    for name, change in changes.items():
        run = loadgo.run(script, on=str(found), users=5, passes=5, seed=2, draws=5, set=[change], out=room / name)
        assert run.summary.prediction is not None
        means[name] = run.summary.prediction.figures["steady"][0].predicted
    assert means["drum"] < means["much"] < means["little"]


def test_the_capacity_of_a_fitted_machine_holds_that_of_the_known_machine(room: Path) -> None:
    """The intervals of 30 machines held the true capacity 30 times, those of the search 9 times. Here are four."""
    held_with_doubt = held_by_search = 0
    for place in range(4):
        known, found = fitted(room, place)
        script = room / "script.toml"
        true = loadgo.capacity(script, target="p90 < 2s", on=str(known), seed=5).answer
        predicted = loadgo.capacity(script, target="p90 < 2s", on=str(found), seed=400 + place, draws=8)
        doubt = predicted.fit_doubt
        assert true is not None
        assert doubt is not None
        assert doubt.search_low is not None
        held_with_doubt += doubt.low <= true <= (doubt.high or true)
        held_by_search += doubt.search_low <= true <= (doubt.search_high or true)
    assert held_with_doubt == 4
    assert held_by_search < 4
