"""Paging experiments on this host: a program with half of its memory, paged to a file and to compressed memory."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from loadgo.attribution.measured_runs import speedup_of
from loadgo.comparison.compare import Comparison, compare
from loadgo.records.tables import Tables
from loadgo.reporting.report import report
from loadgo.running import bundled
from support.outside import NOBODY, ROOT, Bench, left_behind, other_runs_live, readable_by_all
from support.paging_host import PAGES, counted, paging_alone

LINE = "python3 touch.py 64 3000 1200"
SMALL = "python3 touch.py 32 600 20"
"""Twice the memory that the limit leaves, few steps of work."""
DEVICES = ("file", "zram")


def zram_devices() -> set[str]:
    return {path.name for path in Path("/sys/block").glob("zram*")}


@dataclass(frozen=True)
class Paged:
    """Runs of one script with half of its memory, named for their devices, and what the kernel counted meanwhile."""

    bench: Bench
    grown: dict[str, dict[str, int]]
    zram_before: set[str]

    @property
    def folder(self) -> Path:
        return self.bench.folder

    def tables(self, device: str) -> Tables:
        return self.bench.tables(device)


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> Paged:
    bench = Bench(tmp_path_factory.mktemp("paged"))
    bench.homes.mkdir()
    script = bench.script(bundled.find_script("paging").text.replace(LINE, SMALL))
    with paging_alone():
        made = Paged(bench, {}, zram_devices())
        for device in DEVICES:
            before = counted()
            limit = f"memory=20M,swap={device}:256M"
            bench.run(script, "--passes", "3", "--limit", limit, "--fail-if", "errors > 0", out=device)
            made.grown[device] = {name: count - before[name] for name, count in counted().items()}
    return made


@pytest.fixture(scope="module")
def compared(paged: Paged) -> Comparison:
    return compare(paged.folder / "file", paged.folder / "zram")


def majors(run: Tables) -> int:
    return int(run.interactions["faults_major"].sum())


@PAGES
@pytest.mark.parametrize("device", DEVICES)
def test_the_records_hold_no_more_faults_than_the_kernel_counted_and_every_one_swapped_a_page_in(
    device: str, paged: Paged
) -> None:
    taken = majors(paged.tables(device))
    assert 50 < taken <= paged.grown[device]["pgmajfault"]
    assert paged.grown[device]["pswpin"] > 0.5 * taken, "faults of this program are for pages that were paged out"


@PAGES
def test_a_wait_for_a_page_is_the_files_and_not_that_of_compressed_memory(paged: Paged) -> None:
    waits = {}
    for device in DEVICES:
        kept = paged.tables(device)
        waits[device] = int(kept.interactions["paging_wait_ns"].sum()) / majors(kept)
    assert waits["file"] > 1_000
    assert waits["zram"] < waits["file"] / 2


@PAGES
def test_the_comparison_tells_the_device_the_major_faults_and_the_wait(paged: Paged, compared: Comparison) -> None:
    differs = {one.name: (one.before, one.after) for one in compared.conditions}
    assert differs["swap"] == (f"file:{256 << 20}", f"zram:{256 << 20}")
    assert "script's text" not in differs
    told = compared.rows.whole["major faults"]
    users_passes = 3  # one user's script is three passes of one line
    assert (told.before, told.after) == tuple(majors(paged.tables(device)) for device in DEVICES)
    assert len(paged.tables("file").interactions) == users_passes
    response = next(chain for chain in compared.chains if chain.measure == "response")
    assert [link.name for link in response.links][:2] == ["programs", "system"]
    assert next(link for link in response.links if link.name == "paging wait").factor > 1


@PAGES
def test_measured_runs_of_both_devices_are_taken_apart_by_the_change_that_their_records_tell(paged: Paged) -> None:
    speedup_result = speedup_of({"": [paged.folder / "file"], "zram": [paged.folder / "zram"]})
    assert speedup_result.changes[0].set == (f"swap: file:{256 << 20} to zram:{256 << 20}",)
    file = paged.tables("file").interactions
    elapsed = next(one for one in speedup_result.causes if one.measure == "elapsed")
    typing = int(file["ready_ns"].max()) - int(paged.tables("file").phases["at_ns"].min())  # type: ignore[arg-type]
    assert elapsed.before == pytest.approx(typing / len(file), rel=1e-9)
    response = next(one for one in speedup_result.causes if one.measure == "response")
    assert response.causes[0].factor == pytest.approx(response.ratio, rel=1e-12)
    page = paged.bench.typed("speedup", "--measured", "=file", "--measured", "zram=zram").stdout
    assert re.search(r"swap: file:\d+ to zram:\d+", page)
    assert re.search(r"Intervals +none: 1 run with each combination of the changes; they need 5\.", page)


@PAGES
def test_nothing_of_the_experiment_is_left(paged: Paged) -> None:
    assert str(paged.folder) not in Path("/proc/swaps").read_text()
    assert left_behind(paged.bench) == []
    with paging_alone():  # and no test beside this one has a device now
        assert zram_devices() <= paged.zram_before or other_runs_live()


@PAGES
def test_programs_that_were_killed_for_want_of_memory_are_told_before_any_figure(paged: Paged) -> None:
    paged.bench.run("asked.toml", "--passes", "3", "--limit", "memory=20M,swap=none", out="killed")
    assert paged.tables("killed").interactions["exit_status"].to_list() == [137] * 3
    assert paged.tables("killed").conditions["conditions"]["users_memory_kills_end"] == 3
    assert "The kernel killed 3 processes of the users" in " ".join(str(report(paged.folder / "killed")).split())
    told = speedup_of({"": [paged.folder / "killed"], "swap": [paged.folder / "zram"]}).warnings
    assert any("3 of 3 interactions failed or were not answered" in line for line in told)


def test_without_privilege_it_says_what_would_help(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.homes.mkdir()
    readable_by_all(bench)
    before = NOBODY if ROOT else ()
    result = bench.loadgo("run", "paging", "--limit", "memory=20M,swap=zram:64M", status=2, before=before)
    assert "--limit needs a control group for the users, and none could be made; remedy: run as root" in result.stderr
