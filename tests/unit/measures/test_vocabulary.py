"""Total time in the words of 1969 and 1973: with what has no line there, it is still all of the time."""

import dataclasses
from typing import Literal

import pytest
from loadgo.measures.summary import Summary, summarize
from loadgo.measures.vocabulary import DocumentVocabulary, VocabularyLine, in_words_of
from loadgo.records.tables import Tables
from support.synthetic import S, closed_loop, frame, interaction, run_of
from support.synthetic_meters import metered_host

Document = Literal["1969", "1973"]
MACHINE = {"user": 50, "page fault": 12, "interrupt": 8, "getwork": 5, "idle zero": 10, "idle page wait": 15}


@pytest.fixture(scope="module")
def host() -> Summary:
    """A host with everything metered."""
    return summarize(metered_host(), phases="all")


def simulated(percents: dict[str, int], *queues: tuple[str, int]) -> Summary:
    """A machine with one processor that spent its time so, and devices that had so many requests."""
    seconds = [(i + 1) * S for i in range(10)]
    time = [
        {"at_ns": at, "span_ns": S, "processor": 0, "category": name, "time_ns": percent * S // 100}
        for at in seconds
        for name, percent in percents.items()
    ]
    queue = [
        {"at_ns": at, "span_ns": S, "queue": name, "measure": "requests", "value": float(count)}
        for at in seconds
        for name, count in queues
    ]
    run = run_of([interaction(1, at, 0.5) for at in range(1, 9)], system={"kind": "machine"})
    tables: Tables = dataclasses.replace(run, time=frame(time, "time"), queue=frame(queue, "queue"))
    return summarize(tables)


def words(summary: Summary, year: Document) -> DocumentVocabulary:
    """The processors' time in the words of a document."""
    assert summary.total_time is not None
    return in_words_of(year, summary.total_time, summary.meters)


def line(found: DocumentVocabulary, name: str) -> VocabularyLine:
    """The line called so."""
    return next(row for row in found.lines if row.name == name)


@pytest.mark.parametrize("year", ["1969", "1973"])
def test_the_lines_and_what_has_none_are_all_of_the_time(host: Summary, year: Document) -> None:
    for summary in (host, simulated(MACHINE), simulated(MACHINE | {"user": 49, "idle governed": 1}, ("drum", 7))):
        assert summary.total_time is not None
        found = words(summary, year)
        parts = [row.time_ns or 0 for row in (*found.lines, *found.homeless) if not row.sum]
        assert sum(parts) == summary.total_time.total_ns


def test_the_same_word_is_another_kind_of_idle_in_the_other_year(host: Summary) -> None:
    assert host.total_time is not None
    waiting = host.total_time.category_time_ns("idle page wait", "idle disk wait", "idle dispatch")
    assert line(words(host, "1969"), "multiprogramming idle").time_ns == waiting
    assert line(words(host, "1973"), "Idle, NMP").time_ns == waiting
    assert line(words(host, "1973"), "Idle, MP").time_ns == host.total_time.category_time_ns("idle not eligible")


def test_a_cause_of_idle_time_that_a_document_does_not_know_is_told_to_have_no_line(host: Summary) -> None:
    assert [row.name for row in words(host, "1973").homeless] == ["uncharged", "meters", "idle governed"]
    assert "bound fault" in [row.name for row in words(host, "1969").homeless]


def test_percent_of_non_idle_leaves_zero_and_nmp_idle_out_of_its_base(host: Summary) -> None:
    assert host.total_time is not None
    total = host.total_time
    left_out = total.category_time_ns("idle zero", "idle page wait", "idle disk wait", "idle dispatch")
    assert total.non_idle_ns == total.total_ns - left_out
    faults = line(words(host, "1973"), "Page Faults")
    assert faults.non_idle == pytest.approx(total.category_time_ns("page fault") / total.non_idle_ns)
    assert line(words(host, "1973"), "Idle, NMP").non_idle is None


def test_the_drums_interrupts_are_apart_where_a_drum_asked_for_them() -> None:
    summary = simulated(MACHINE, ("drum", 30), ("disk", 10), ("bulk", 50))
    assert summary.total_time is not None
    interrupts_ns = summary.total_time.category_time_ns("interrupt")
    found = words(summary, "1973")
    assert line(found, "Drum Interrupts").time_ns == interrupts_ns * 3 // 4
    assert line(found, "Interrupts").time_ns == interrupts_ns // 4
    for idle in ([("disk", 10)], [("disk", 10), ("drum", 0)]):
        assert line(words(simulated(MACHINE, *idle), "1973"), "Drum Interrupts").time_ns is None


def test_a_category_that_a_machine_was_not_in_is_nothing_and_not_unmeasured() -> None:
    found = words(simulated(MACHINE), "1973")
    assert line(found, "Seg Faults").time_ns == 0
    assert line(found, "Idle, loading").time_ns == 0


def test_the_kernels_ticks_do_not_divide_what_they_do_not_tell_apart() -> None:
    found = words(summarize(closed_loop(10, 20)), "1973")
    unmeasured = [row.name for row in found.lines if row.time_ns is None]
    assert unmeasured == [
        *("Page Faults", "Drum Interrupts", "Getwork", "Seg Faults", "Bound Faults"),
        *("Idle, zero", "Idle, loading", "Idle, MP", "Idle, NMP"),
    ]
    assert [row.name for row in found.homeless] == ["system"]
    assert any("divides neither system" in remark for remark in found.remarks)


def test_counts_and_means_are_those_of_the_meters(host: Summary) -> None:
    assert host.total_time is not None
    faults = line(words(host, "1973"), "Page Faults")
    kinds = {row.name: row.count for row in host.meters.faults}
    assert faults.count == sum(kinds[kind] for kind in ("minor", "major", "swap-in", "write-protect"))
    assert faults.each_ns == host.total_time.category_time_ns("page fault") / (faults.count or 1)


def test_another_year_is_refused_in_words(host: Summary) -> None:
    with pytest.raises(ValueError, match="'1985' is none of today, 1969, 1973"):
        words(host, "1985")  # type: ignore[arg-type]
