"""The price of the meters on this host: measured in the run, or not here for a reason; nothing stays switched on."""

from pathlib import Path

import polars as pl
import pytest
from loadgo.measures.summary import summarize
from support.outside import NEEDS_ROOT, Bench

pytestmark = NEEDS_ROOT

SETTING = Path("/proc/sys/kernel/bpf_stats_enabled")
WITHOUT_ADMINISTRATION = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
"""Words before a command that may then load kernel programs, and not let the kernel clock them."""


@pytest.mark.parametrize(
    ("tier", "others"),
    [
        ("cheap", {"clock"}),
        ("exact", {"clock profile", "mapping records", "faults", "interrupts", "primitives", "locks"}),
    ],
)
def test_a_metering_tells_its_price_with_an_interval(bench: Bench, tier: str, others: set[str]) -> None:
    before = SETTING.read_text()
    bench.loadgo("meter", "--for", "20s", "--meters", tier, "--out", "kept")  # some 25 windows
    measured = bench.tables("kept")
    assert "price of the meters" in measured.conditions["meters"]["estimated"]
    windows = measured.meter_price.with_columns(pl.col("meter").cast(pl.String))
    names = {"processes", "queue", "total time", "waits by user"} | others
    assert all(set(window["meter"]) == names for _, window in windows.group_by("at_ns"))
    total = summarize(measured, phases="all").total_time
    assert total is not None
    price = total.account.price
    assert price is not None
    assert {one.meter for one in price.by_meter} == names
    assert price.error_ns > 0
    assert 0 < price.programs_ns < total.account.busy_ns
    assert total.account.instrument_ns == round(price.programs_ns)
    assert f"by {price.windows} random windows" in " ".join(bench.typed("report", "kept", status=None).stdout.split())
    assert SETTING.read_text() == before


def test_meters_that_the_kernel_does_not_clock_have_no_price_and_say_why(bench: Bench) -> None:
    result = bench.loadgo("meter", "--for", "200ms", "--out", "kept", before=WITHOUT_ADMINISTRATION)
    measured = bench.tables("kept")
    assert measured.conditions["meters"]["tier"] == "cheap"
    assert measured.meter_price.is_empty()
    assert "CAP_SYS_ADMIN" in measured.conditions["meters"]["not_here"]["price of the meters"]
    assert "What the meters took was not measured" in " ".join(result.stdout.split())
    told = " ".join(bench.loadgo("doctor", "--full", before=WITHOUT_ADMINISTRATION).stdout.split())
    assert "price of the meters: not here" in told
    assert "CAP_SYS_ADMIN" in told
