"""The answer of a metered host: the programs that used most of the processors' time."""

from __future__ import annotations

import dataclasses

from loadgo.measures.summary import summarize
from loadgo.measures.whose_time import OwnerTime
from loadgo.records.tables import tables
from loadgo.reporting.metered_command_words import command_in_words
from loadgo.reporting.processor_time_words import metered_answer
from loadgo.reporting.trust import run_trust
from support.reported_pages import REPORTED
from support.synthetic_meters import metered_alone


def test_the_answer_of_a_metered_host_names_the_programs_that_used_most() -> None:
    summary = summarize(metered_alone(), phases="all")
    assert summary.total_time is not None
    parts = {"sh": 0.45, "rustc": 0.263, "qemu": 0.137, "python": 0.08, "cat": 0.001}
    used = tuple(
        OwnerTime(name, int(part * summary.total_time.total_ns), None, None, None) for name, part in parts.items()
    )

    def with_processes(*processes: OwnerTime) -> str:
        whose_time = dataclasses.replace(summary.whose_time, processes=processes)
        return metered_answer(dataclasses.replace(summary, whose_time=whose_time))

    most = " Most processor time was used by `sh` (45.00 %), `rustc` (26.30 %) and `qemu` (13.70 %)."
    assert with_processes(*used) == f"{with_processes()}{most}"
    others = dataclasses.replace(used[0], name="loadgo")
    told = " Most processor time was used by `loadgo` (45.00 %; other processes than this meter)."
    assert with_processes(others) == f"{with_processes()}{told}"
    assert with_processes(used[-1]) == with_processes()
    few = (dataclasses.replace(used[0], cpu_ns=used[0].cpu_ns // 10),)
    rest = f"{100 * (summary.total_time.busy_share - 0.045):.2f} %"
    unknown = f" Of the busy time, {rest} is of no known program. Of the known ones, `sh` (4.50 %) used most."
    assert with_processes(*few) == f"{with_processes()}{unknown}"


def test_a_metered_command_that_waited_for_a_processor_lowers_the_trust() -> None:
    summary = summarize(tables(REPORTED / "live-exact"))
    took_ns = summary.everything.response.mean_ns
    assert took_ns is not None

    def trust_with(waited_ns: float) -> str:
        usage = dataclasses.replace(summary.everything.usage, ready_wait_ns=waited_ns)
        metered = dataclasses.replace(
            summary,
            run=dataclasses.replace(summary.run, kind="meter"),
            everything=dataclasses.replace(summary.everything, usage=usage),
        )
        return run_trust(metered, is_warned=False)

    assert trust_with(0.05 * took_ns).startswith("Trust: high.")
    assert trust_with(0.5 * took_ns).startswith("Trust: moderate: the command waited ")


def test_a_command_without_a_time_says_why() -> None:
    summary = summarize(tables(REPORTED / "live-exact"))
    row = summary.commands[0]

    def words_with(died: int) -> str:
        outcomes = dataclasses.replace(row.outcomes, died=died)
        response = dataclasses.replace(row.response, mean_ns=None)
        untimed = dataclasses.replace(row, outcomes=outcomes, response=response)
        return command_in_words(dataclasses.replace(summary, commands=(untimed,)))

    assert " was ended by a signal" in words_with(died=1)
    assert " did not end while it was metered" in words_with(died=0)
