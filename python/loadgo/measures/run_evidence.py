"""The evidence for and against the figures of runs, from their records and their hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.run_warnings import RunFacts, facts_of_runs
from loadgo.measures.trust import A_MODEL, Evidence, fitted_doubt, unanswered_in_words
from loadgo.notation.figures import counted, duration, in_words, number, share

if TYPE_CHECKING:
    from loadgo.records.phases import Stretch
    from loadgo.records.tables import Tables


def evidence_of_runs(runs: Sequence[Tables], stretches: Sequence[Stretch]) -> Evidence:
    """The evidence for and against the figures of these runs, from their records and their hosts."""
    return evidence_of(facts_of_runs(runs, stretches))


def evidence_of(facts: Sequence[RunFacts]) -> Evidence:
    """The same, from the facts about the runs."""
    return Evidence(
        against=(
            *_unanswered(facts),
            *_other_work(facts),
            *_unknown_other_work(facts),
            *_unchecked(facts),
            *_fitted(facts),
        ),
        grounds=tuple(filter(None, (_drivers(facts), _law(facts), _lost(facts), _quiet(facts)))),
        scope=A_MODEL if facts and all(map(is_simulated, facts)) else "",
    )


def is_simulated(facts: RunFacts) -> bool:
    """Whether the run was on a simulated machine."""
    return facts.system.get("kind") == "machine"


def _unanswered(facts: Sequence[RunFacts]) -> list[str]:
    """The reason that lines had no answer, if any had none."""
    count = sum(run.unanswered for run in facts)
    return [unanswered_in_words(count, sum(run.sent for run in facts))] if count else []


def _other_work(facts: Sequence[RunFacts]) -> list[str]:
    """The reason that other programs give, if they had a part of the time that is no warning."""
    works = [run.other_work for run in facts if run.other_work is not None and run.other_work.level == "partly busy"]
    if not works:
        return []
    most = max(works, key=lambda work: work.share)
    up_to = "up to " if len(facts) > 1 and not most.at_most else ""
    return [f"other programs had {up_to}{most.in_words} of the processors' time"]


def _unknown_other_work(facts: Sequence[RunFacts]) -> list[str]:
    """The reason that nobody knows what other programs did on another host, as where its meters were lost."""
    names = [str(run.system.get("name", "")) for run in facts if run.other_work is None and not run.is_metering]
    unknown = list(dict.fromkeys(name for name in names if name.startswith(SSH_SCHEME)))
    return [f"how much other programs used on {in_words(unknown)} is not known"] if unknown else []


def _unchecked(facts: Sequence[RunFacts]) -> list[str]:
    """The reason that runs are too short for the check of their records."""
    short = sum(run.audit is not None and run.audit.verdict == "too short to tell" for run in facts)
    if not short:
        return []
    which = f"{number(short)} of {counted(len(facts), 'run')} {'is' if short == 1 else 'are'}"
    if short == len(facts):
        which = {1: "the run is", 2: "both runs are"}.get(short, "all runs are")
    return [f"{which} too short to be checked by Little's law"]


def _fitted(facts: Sequence[RunFacts]) -> list[str]:
    """The reason that a machine was fitted to other numbers of users."""
    users = sorted({users for run in facts for users in run.fitted_users})
    return [fitted_doubt(users)] if users else []


def _drivers(facts: Sequence[RunFacts]) -> str:
    """The phrase on the drivers, the latest of which counts; empty if one was bad."""
    drivers = [run.driver for run in facts]
    lateness = [driver.lateness_p99_ns for driver in drivers if driver.lateness_p99_ns is not None]
    if not lateness or not all(driver.valid for driver in drivers):
        return ""
    if all(map(is_simulated, facts)):
        return ""
    latest = max(drivers, key=lambda driver: driver.lateness_p99_ns or 0.0)
    late = f"{duration(latest.lateness_p99_ns)}" if latest.lateness_p99_ns else "0 s"
    if len(facts) == 1 and (latest.lateness_p99_ns or 0.0) > latest.lateness_limit_ns:
        limit = duration(latest.lateness_limit_ns)
        return f"all lines but one were typed on time ({late} late at p99; one line may be over the limit of {limit})"
    if latest.name:
        return f"all drivers typed on time ({latest.name} the latest: {late} late at p99)"
    return f"lines were typed on time ({'at most ' if len(facts) > 1 else ''}{late} late at p99)"


def _law(facts: Sequence[RunFacts]) -> str:
    audits = [run.audit for run in facts if run.audit is not None and run.audit.verdict != "too short to tell"]
    if not audits or any(audit.verdict != "holds" for audit in audits):
        return ""
    return f"Little's law holds within {share(max(abs(audit.discrepancy) for audit in audits))}"


def _lost(facts: Sequence[RunFacts]) -> str:
    """The phrase that no record was lost; empty where one was, or where a killed run may have lost its last ones."""
    return "" if any(run.losses or run.outcome == "killed" for run in facts) else "no record lost"


def _quiet(facts: Sequence[RunFacts]) -> str:
    """The phrase that the hosts were quiet; empty where one was not, or where that is not known."""
    works = [run.other_work for run in facts if not is_simulated(run)]
    is_quiet = works and all(work is not None and work.level == "quiet" for work in works)
    return "the host was quiet" if is_quiet else ""
