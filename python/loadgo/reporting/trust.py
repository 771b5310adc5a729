"""Whether to believe a run's report: what its records and its host say for and against it."""

from __future__ import annotations

from loadgo.measures.other_work import BUSY_SHARE
from loadgo.measures.run_evidence import evidence_of
from loadgo.measures.run_warnings import facts_in
from loadgo.measures.summary import Summary
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import duration, exact_share
from loadgo.reporting.processor_time_words import without_load


def run_trust(summary: Summary, *, is_warned: bool) -> str:
    """The line on whether to believe the figures. `is_warned`: a warning stands over them. Empty without figures."""
    if without_load(summary):
        return trust_in_words(_evidence_of_metering(summary), is_warned=is_warned)
    response = summary.everything.response
    if not response.count:
        return ""
    evidence = evidence_of([facts_in(summary)])
    if all(measured.low_ns is None for measured in response.quantiles):
        evidence = evidence.and_also(against=["the run is too short for intervals"])
    return trust_in_words(evidence, is_warned=is_warned)


def _evidence_of_metering(summary: Summary) -> Evidence:
    """How exact the account of the processors' time is, loadgo's part of it, and that nothing is lost."""
    total_time = summary.total_time
    grounds = []
    if total_time is not None and total_time.wall_ns:
        grounds.append(f"the categories are {100 * total_time.total_ns / total_time.wall_ns:.2f} % of the wall time")
        own_ns = total_time.account.laboratory_ns
        grounds += (
            []
            if own_ns is None
            else [f"{exact_share(total_time.share_of(own_ns))} was loadgo's own, its meter programs included"]
        )
    is_whole = not summary.losses and summary.run.outcome != "killed"
    return Evidence(grounds=(*grounds, *(["no record lost"] if is_whole else [])), against=_wait_of_command(summary))


def _wait_of_command(summary: Summary) -> tuple[str, ...]:
    """The reason to doubt the time of a metered command: it waited for a processor. Empty for one that did not."""
    took_ns, waited_ns = summary.everything.response.mean_ns, summary.everything.usage.ready_wait_ns
    if not summary.commands or not took_ns or not waited_ns or waited_ns <= BUSY_SHARE * took_ns:
        return ()
    return (
        f"the command waited {duration(waited_ns)} of its {duration(took_ns)} for a processor, so it takes less time "
        "on a quiet host",
    )
