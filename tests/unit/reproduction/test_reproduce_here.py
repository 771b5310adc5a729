"""RFC 392 beside today: its remedies on the simulated machine, and its tables with this host's rows in them."""

import json
import os
import re
from functools import cache

import pytest
from loadgo.published.catalogue import document
from loadgo.reproduction.models.laboratory import Lab
from loadgo.reproduction.models.rfc_392_here import LocalTransfers, repeat_transfers_here
from loadgo.reproduction.models.rfc_392_remedies import COST_REMEDIES, RemedyCost, remedy_costs
from loadgo.reproduction.reproduce import ReproducedDocument, Reproduction, judge_document, reproduce
from loadgo.transfers.prices import prices
from support.printed_values import as_printed

_ALLOWED = os.sched_getaffinity(0)


@cache
def saved() -> tuple[RemedyCost, ...]:
    """The remedies, run on the machine."""
    with Lab() as lab:
        return remedy_costs(lab)


@cache
def here() -> LocalTransfers:
    """The seed's transfers, once each on this host."""
    return repeat_transfers_here(prices("cloud", processors=2), times=1)


@cache
def told() -> Reproduction:
    """The document as printed, with both."""
    seed = judge_document(document("rfc-392"), as_printed(document("rfc-392"), 1.0))
    again = ReproducedDocument(
        seed.document, seed.cells, seed.totals, seed.further, seed.findings, seed.plots, saved(), here()
    )
    return Reproduction((again,), 0, 1.0)


def test_what_is_simulated_agrees_with_the_memos_own_figures() -> None:
    assert [one.remedy.name for one in saved() if not one.agrees] == []
    assert (saved()[0].low_us, saved()[0].high_us) == (75.0, 87.5)


def test_the_byte_calls_are_the_smaller_part() -> None:
    """No bytes at the network at all saves a fifth; the program's own records are what costs."""
    by_name = {one.remedy.name: one for one in saved()}
    mapped = by_name["pages mapped onto the network (b)"]
    assert 0.15 < mapped.saves < 0.21
    assert by_name["pages mapped, records and blocks by words"].saves > 0.7
    assert by_name["messages eight times as long"].saves < 0.01
    assert saved()[0].saves == 0


def test_a_remedy_is_what_set_does_to_the_machine() -> None:
    (as_it_was, *_) = COST_REMEDIES
    assert "supervisor.network_byte=120us" in as_it_was.changes()
    assert as_it_was.us_per_byte(600) == 600


@pytest.mark.processes
def test_every_transfer_of_the_seed_is_made_here_with_its_size_and_direction() -> None:
    figures = document("rfc-392").figures
    assert len(here().rows) == 77
    for key, again in here().rows.items():
        assert again.row.bytes == int(figures[f"rfc-392/{key}/bytes"].number.low)
        assert again.row.method == "records"
        assert again.row.cpu_s > 0
        assert again.load >= 1
    assert {again.row.direction for again in here().rows.values()} == {"s", "r"}


@pytest.mark.processes
def test_this_process_may_run_where_it_could_before() -> None:
    here()
    assert os.sched_getaffinity(0) == _ALLOWED


@pytest.mark.processes
@pytest.mark.parametrize("width", [80, 120])
def test_the_seeds_tables_have_this_hosts_rows_under_them(width: int) -> None:
    lines = told().report(width=width).splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "What each remedy would have saved" in text
    assert "What the memo concludes, then and here" in text
    at = next(i for i, line in enumerate(lines) if "Table 1" in line and "and this host" in line)
    below = lines[at:]
    row = next(i for i, line in enumerate(below) if "18930" in line)
    assert re.search(r"here .*[µm]s .* [MG] ", below[row + 1])
    assert re.search(r"ratio .*1/[\d.]+[kMG]", below[row + 2])


@pytest.mark.processes
@pytest.mark.parametrize("format", ["html", "md", "json"])
def test_every_format_has_them(format: str) -> None:
    content = told().report(format)
    if format == "json":
        (again,) = json.loads(content)["documents"]
        assert len(again["here"]["rows"]) == 77
        assert len(again["remedies"]) == len(COST_REMEDIES)
        return
    for words in ("What each remedy would have saved", "then and here", "bytes of 32 bits (c)"):
        assert words in content


def test_only_the_transfers_can_be_measured_here() -> None:
    with pytest.raises(ValueError, match="no transfers that can be repeated on this host"):
        reproduce("ctss-trivial", here=prices())
