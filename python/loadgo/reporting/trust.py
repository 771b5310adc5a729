"""Whether to believe a run's report: a word, the reason against it, and what speaks for it.

It is *low* if a warning stands over the run. It is *limited* if other programs may have slowed the users, or if the run
is too short to be checked or to have intervals. Else it is *high*.
"""

from __future__ import annotations

from loadgo.measures.summary import Summary
from loadgo.notation.figures import capitalized, duration, exact_share, share
from loadgo.reporting.processor_time_words import without_load
from loadgo.reporting.simulated_machine import simulated


def trust_in_words(summary: Summary, *, is_warned: bool) -> str:
    """The line on whether to believe the figures. `is_warned`: a warning stands over them. Empty without figures."""
    is_metering = without_load(summary)
    if not is_metering and not summary.everything.response.count:
        return ""
    grounds = "; ".join(_grounds_of_metering(summary) if is_metering else _grounds(summary))
    against = [] if is_metering else _against(summary)
    if is_warned:
        return f"low: {'; '.join(['the warnings above say why', *against])}.{_after('What holds', grounds)}"
    if against:
        return f"limited: {'; '.join(against)}.{_after('Else it is good', grounds)}"
    return f"high. {capitalized(grounds)}." if grounds else "high."


def _after(opening: str, grounds: str) -> str:
    return f" {opening}: {grounds}." if grounds else ""


def _against(summary: Summary) -> list[str]:
    """The reasons for doubt that are no warning."""
    reasons = []
    other_work = summary.other_work
    if other_work is not None and other_work.level == "partly busy":
        reasons.append(f"other programs had {other_work.in_words} of the processors' time")
    if summary.audit is not None and summary.audit.verdict == "too short to tell":
        reasons.append("the run is too short to be checked by Little's law")
    if all(measured.low_ns is None for measured in summary.everything.response.quantiles):
        reasons.append("the run is too short for intervals")
    return reasons


def _grounds(summary: Summary) -> list[str]:
    """The phrases on a good driver, a law that holds, complete records and a quiet host."""
    grounds = [_driver(summary)]
    if summary.audit is not None and summary.audit.verdict == "holds":
        grounds.append(f"Little's law holds within {share(abs(summary.audit.discrepancy))}")
    grounds.append("" if summary.losses else "nothing lost")
    if not simulated(summary) and summary.other_work is not None and summary.other_work.level == "quiet":
        grounds.append("the host was quiet")
    return [ground for ground in grounds if ground]


def _driver(summary: Summary) -> str:
    driver = summary.driver
    if driver.lateness_p99_ns is None or not driver.valid:
        return ""
    if simulated(summary):
        return "no line was late (time is virtual)"
    if driver.name:
        return f"drivers good ({driver.name} the latest: {duration(driver.lateness_p99_ns)} at p99)"
    return f"driver good ({duration(driver.lateness_p99_ns)} late at p99)"


def _grounds_of_metering(summary: Summary) -> list[str]:
    """How exact the account of the processors' time is, loadgo's part of it, and that nothing is lost."""
    total_time = summary.total_time
    grounds = []
    if total_time is not None and total_time.wall_ns:
        grounds.append(f"the categories are {100 * total_time.total_ns / total_time.wall_ns:.2f} % of the wall time")
        own_ns = total_time.account.laboratory_ns
        grounds += [] if own_ns is None else [f"{exact_share(total_time.share_of(own_ns))} was loadgo's own"]
    return [*grounds, *([] if summary.losses else ["nothing lost"])]
