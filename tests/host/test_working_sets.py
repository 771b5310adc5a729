"""Working sets of users of this host: memory that programs touch is told, and what cannot be measured is refused."""

import loadgo
import pytest
from loadgo.measures.summary import summarize
from support.outside import NEEDS_ROOT, NOBODY, Bench, readable_by_all
from support.paging_host import PAGES, paging_alone

pytestmark = NEEDS_ROOT

MB = 1 << 20
HELD_BYTES, TOUCHED_BYTES = 32 * MB, 8 * MB
HOLDS = f"""\
name   = "holding"
login  = "sh"
passes = 1
think  = "none"
status = 0
needs  = ["python3"]

[[lines]]
as   = "hold"
type = "python3 -IS hold.py"

[files]
"hold.py" = '''
import mmap, time
memory = mmap.mmap(-1, {HELD_BYTES}, flags=mmap.MAP_PRIVATE)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, {HELD_BYTES}, 4096):
    memory[place] = 1
end = time.monotonic() + 24
while time.monotonic() < end:
    for place in range(0, {TOUCHED_BYTES}, 4096):
        memory[place] = 2
    time.sleep(0.2)
'''
"""
"""A program that holds 32 MB, and touches 8 of them again and again."""


def test_the_memory_that_a_program_touches_is_referenced_and_the_rest_is_not(bench: Bench) -> None:
    loadgo.run(bench.folder / bench.script(HOLDS), users=3, meters="none", working_sets=True, out=bench.folder / "kept")
    measured = bench.tables("kept")
    rows = measured.working_sets.filter(measured.working_sets["resident_bytes"] > HELD_BYTES)
    assert set(rows["user"]) == {1, 2, 3}
    # The first windows may have begun before the program held its memory.
    later = rows.filter(rows["referenced_bytes"] < HELD_BYTES)
    assert len(later) >= 3
    referenced = float(later["referenced_bytes"].to_numpy().mean())
    assert TOUCHED_BYTES <= referenced <= TOUCHED_BYTES + 8 * MB
    assert set(later["device_bytes"]) == {0}
    sets = summarize(measured, phases="all").working_sets
    assert sets is not None
    assert 3 * HELD_BYTES < sets.resident_bytes < 3 * (HELD_BYTES + 24 * MB)
    told = " ".join(bench.typed("report", "kept").stdout.split())
    assert "Page faults with less memory, foretold" in told
    assert "3 users held" in told


@PAGES
def test_pages_that_come_back_from_the_paging_device_are_told(bench: Bench) -> None:
    # Without a rest between passes, some pages of a program are on the device at every moment. The kernel kills a
    # program that takes memory more quickly than it finds pages to take from others.
    slowly = "time.sleep(0.03 * (place % (1 << 20) == 0))"
    every_page = HOLDS.replace(f"range(0, {TOUCHED_BYTES}, 4096)", f"range(0, {HELD_BYTES}, 4096)")
    every_page = every_page.replace("memory[place] = 2", f"memory[place] = 2; {slowly}")
    every_page = every_page.replace("memory[place] = 1", f"memory[place] = 1; {slowly}").replace(
        "sleep(0.2)", "sleep(0)"
    )
    with paging_alone():
        loadgo.run(
            bench.folder / bench.script(every_page),
            users=3,
            limit="memory=80M,swap=zram:256M",
            meters="none",
            working_sets=True,
            out=bench.folder / "kept",
        )
    measured = bench.tables("kept")
    assert measured.conditions["conditions"].get("users_memory_kills_end", 0) == 0
    rows = measured.working_sets.filter(measured.working_sets["device_bytes"] > 2 * MB)
    assert len(rows) >= 3
    assert int(rows["returned_bytes"].to_numpy().max()) > 2 * MB
    assert int(rows["returned_bytes"].to_numpy().max()) <= HELD_BYTES + 24 * MB
    sets = summarize(measured, phases="all").working_sets
    assert sets is not None
    assert {row.share for row in sets.faults} >= {2.0, 1.5, 1.25}
    assert "were on paging devices" in " ".join(bench.typed("report", "kept", "--phases", "all").stdout.split())


def test_a_run_without_the_option_has_no_working_sets(bench: Bench) -> None:
    loadgo.run(bench.folder / bench.script(HOLDS.replace("24", "2")), users=1, meters="none", out=bench.folder / "kept")
    assert bench.tables("kept").working_sets.is_empty()
    assert "Page faults with less memory" not in bench.typed("report", "kept", "--full").stdout


def test_without_groups_for_the_users_it_is_refused_with_the_remedy(bench: Bench) -> None:
    readable_by_all(bench)
    words = ("run", bench.script(HOLDS), "--working-sets", "--out", "kept")
    told = bench.loadgo(*words, status=2, before=NOBODY).stderr
    assert "--working-sets needs a control group for the users" in told
    assert "run as root" in told


@pytest.mark.parametrize(
    ("system", "words"),
    [("ssh://127.0.0.1", "--working-sets are of users of this host"), ("ctss-1963", "--working-sets is for a host")],
)
def test_users_elsewhere_have_none(bench: Bench, system: str, words: str) -> None:
    told = bench.typed("run", bench.script(HOLDS), "--on", system, "--working-sets", "--out", "kept", status=2)
    assert words in told.stderr
    assert not (bench.folder / "kept").exists()
