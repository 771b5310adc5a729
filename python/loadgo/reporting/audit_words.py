"""The sentences of a report on its driver and on Little's law."""

from __future__ import annotations

from loadgo.measures.littles_law import LittleAudit
from loadgo.measures.summary import Summary
from loadgo.measures.usage import TypingUsage, UsageAudit
from loadgo.notation.figures import duration, number, seconds, share
from loadgo.reporting.simulated_machine import simulated


def driver_line(summary: Summary) -> str:
    """The verdict on the driver in a line."""
    driver = summary.driver
    if driver.lateness_p99_ns is None:
        return "It sent nothing."
    if simulated(summary):
        return "Good: in a simulation no line is late."
    times = (driver.lateness_p50_ns, driver.lateness_p99_ns, driver.lateness_max_ns)
    late = " / ".join(duration(time) for time in times)
    parts = [f"lateness p50 / p99 / max {late} (p99 at most {duration(driver.lateness_limit_ns)})"]
    if driver.late_lines == 1:
        parts.append("one line was later than that, which means nothing by itself")
    if driver.host_share is not None:
        parts.append(f"{share(driver.host_share)} of the host (at most {share(driver.host_share_limit)})")
    if driver.scheduling:
        parts.append(f"scheduling {driver.scheduling}")
    if driver.proof:
        parts.append(driver.proof)
    return f"{'Good' if driver.valid else 'NOT GOOD'}: {', '.join(parts)}."


def little_line(audit: LittleAudit) -> str:
    users = f"{_users(audit.computed)} users computed, {_users(audit.measured)} measured"
    verdict = {
        "holds": f"holds within {share(abs(audit.discrepancy))}",
        "broken": f"BROKEN by {share(abs(audit.discrepancy))}",
        "too short to tell": "cannot tell: too few interactions, or a window too short for their cycles",
    }[audit.verdict]
    if audit.law == "L = lambda W":
        terms = f"L = λW = {number(audit.rate_per_s)}/s × {seconds(audit.stay_s or 0)}"
    else:
        response, think = seconds(audit.response_s or 0), seconds(audit.think_s or 0)
        terms = f"N = X(R + Z) = {number(audit.rate_per_s)}/s × ({response} + {think})"
    return f"Little's law, {terms}: {users}; {verdict}."


def usage_line(audit: UsageAudit | None) -> str:
    """The count of rows with more processor time than the response had room for; empty where all rows are possible."""
    if audit is None or not audit.impossible:
        return ""
    many = audit.impossible > 1
    return (
        f"{number(audit.impossible)} of {number(audit.judged)} interactions {'are' if many else 'is'} charged more "
        f"processor time than all processors could give during the response ({duration(audit.excess_ns)} more in all): "
        "the user's programs also ran between a prompt and the next line. The column cpu_excess_ns marks "
        f"{'them' if many else 'it'}."
    )


def typing_line(typing: TypingUsage | None) -> str:
    """The use of typing a line; empty if lines were sent at once."""
    if typing is None:
        return ""
    parts = [f"{duration(typing.cpu_ns)} of CPU"]
    if typing.ready_wait_ns is not None:
        parts.append(f"{duration(typing.ready_wait_ns)} of CPU wait")
    if typing.paging_wait_ns:
        parts.append(f"{duration(typing.paging_wait_ns)} of page wait")
    return f"Typing a line took {' and '.join(parts)} on average, which is no part of the interaction's use."


def _users(value: float) -> str:
    """A mean number of users with one decimal."""
    return f"{value:,.1f}"
