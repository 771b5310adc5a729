"""The audit of a run's records anew, and the rules of validity, from the raw rows.

A report judges by the same functions: this file decides nothing by itself, and only says point by point what they say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loadgo.measures.record_checks import DRIVER_CHECK, LOSSES_CHECK, checks_of
from loadgo.measures.run_warnings import RunFacts, doubt_warnings, facts_of
from loadgo.notation.figures import counted, duration, in_words, number, share
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.phases import Stretch
from loadgo.records.tables import Tables
from loadgo.verification.results import Verdict, VerifiedPoint

_OWN_RULES = (DRIVER_CHECK, LOSSES_CHECK)
"""Checks of the records that are rules of validity here."""


def record_points(tables: Tables, stretch: Stretch) -> Iterator[VerifiedPoint]:
    """The checks of the records against each other over one stretch."""
    for check in checks_of(tables_of_load(tables), stretch):
        if check.name not in _OWN_RULES:
            verdict: Verdict = "not checkable" if check.verdict == "cannot be told" else check.verdict
            yield VerifiedPoint("record", check.name, verdict, check.text)


def rule_points(facts: RunFacts) -> tuple[VerifiedPoint, ...]:
    """The rules of validity, each with its limit and what was found."""
    return (_end(facts), _lateness(facts), _driver_share(facts), _losses(facts), _hosts(facts))


def facts_and_doubts(tables: Tables, stretch: Stretch) -> tuple[RunFacts, tuple[str, ...]]:
    """The facts that the rules judge, and the warnings about the run that are no breach of a rule."""
    facts = facts_of(tables, stretch)
    return facts, tuple(doubt_warnings(facts))


def _rule(name: str, is_kept: bool, text: str) -> VerifiedPoint:
    return VerifiedPoint("rule", name, "holds" if is_kept else "broken", text)


def _end(facts: RunFacts) -> VerifiedPoint:
    is_whole = facts.finished and facts.outcome == "done"
    found = "it did" if is_whole else f"it ended early: {facts.outcome or 'its end is not recorded'}"
    return _rule("the run came to its planned end", is_whole, found)


def _lateness(facts: RunFacts) -> VerifiedPoint:
    driver = facts.driver
    name = f"the driver sends on time: p99 of lateness at most {duration(driver.lateness_limit_ns)}"
    if driver.lateness_p99_ns is None:
        return VerifiedPoint("rule", name, "not checkable", "no line was sent")
    late = f", {counted(driver.late_lines, 'line')} later than that" if driver.late_lines else ""
    late += "; one is allowed" if driver.late_lines == 1 and not driver.late else ""
    return _rule(name, not driver.late, f"p99 {duration(driver.lateness_p99_ns)}{late}")


def _driver_share(facts: RunFacts) -> VerifiedPoint:
    driver = facts.driver
    name = f"the driver takes at most {share(driver.host_share_limit)} of the host that it loads"
    if driver.host_share is None:
        text = "it is on another machine than the users, or its time was not measured"
        return VerifiedPoint("rule", name, "not checkable", text)
    return _rule(name, not driver.takes_too_much, f"it took {share(driver.host_share)}")


def _losses(facts: RunFacts) -> VerifiedPoint:
    missed = [loss for loss in facts.losses if loss.count and not loss.tolerated]
    reasons = "; ".join(f"{number(loss.count)} {loss.what}: {loss.reason}" for loss in missed)
    point = _rule(LOSSES_CHECK, not missed, reasons or "no loss is recorded")
    return replace(point, lost_reasons=tuple(loss.reason for loss in missed))


def _hosts(facts: RunFacts) -> VerifiedPoint:
    missed = [name for name, lost in facts.lost_hosts.items() if not lost.tolerated]
    tolerated = [name for name, lost in facts.lost_hosts.items() if lost.tolerated]
    found = f"lost: {in_words(missed)}" if missed else "none was lost"
    if tolerated and not missed:
        found = f"lost, but `--without-lost` allows that: {in_words(tolerated)}"
    return _rule("no host was lost that the run needs", not missed, found)
