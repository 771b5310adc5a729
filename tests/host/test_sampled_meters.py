"""The sampled meters on this host: estimates with intervals, and what they do not know is said."""

import pytest
from loadgo.measures.summary import summarize
from support.outside import NEEDS_ROOT, Bench

pytestmark = NEEDS_ROOT

LOAD = "i=0; while [ $i -lt 1000000 ]; do i=$((i+1)); head -c 100 /dev/zero >/dev/null; done"
"""A load that forks and reads for as long as it may."""


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """A bench with a metering of a busy host, `kept`."""
    place = tmp_path_factory.mktemp("sampled")
    (place / "homes").mkdir()
    bench = Bench(place)
    bench.loadgo("meter", "--meters", "sampled", "--out", "kept", "--", "timeout", "25", "sh", "-c", LOAD, status=124)
    return bench


def test_calls_faults_and_interrupts_are_estimated_with_intervals(sampled: Bench) -> None:
    measured = sampled.tables("kept")
    meters = summarize(measured, phases="all").meters
    assert meters.windows is not None
    assert meters.windows.number == len(measured.meter_windows) >= 4
    assert 0 < meters.windows.share < 0.2
    assert all(rows for rows in (meters.primitives, meters.faults, meters.interrupts))
    (execve,) = (row for row in meters.primitives if row.name == "execve")
    assert execve.count_error is not None
    assert execve.count_error > 0
    assert measured.conditions["meters"]["tier"] == "sampled"
    assert {"primitives", "faults", "interrupts"} <= set(measured.conditions["meters"]["estimated"])


def test_the_report_says_that_it_estimates_and_from_what(sampled: Bench) -> None:
    told = " ".join(sampled.typed("report", "kept", "--full", status=None).stdout.split())
    assert "are estimated from" in told
    assert "random windows" in told
    assert "System calls, estimated" in told
    short = " ".join(sampled.typed("report", "kept", status=None).stdout.split())
    assert "System calls, estimated (the first 5 of" in short
    assert "By user and command, and for one interaction, they are not known." in told


def test_no_program_of_the_windows_was_refused_and_nothing_is_lost(sampled: Bench) -> None:
    measured = sampled.tables("kept")
    assert "primitives" not in measured.conditions["meters"].get("not_here", {})
    assert measured.lost.is_empty()
