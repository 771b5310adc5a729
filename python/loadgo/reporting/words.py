"""The sentences of a report: the answer, the warnings, the audit and the notes, as plain text for all formats."""

from __future__ import annotations

from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.audit import CUT_OFF_LOSSES, by_network
from loadgo.measures.other_work import BUSY_SHARE, busy_clause
from loadgo.measures.processor_speed import speed_clause
from loadgo.measures.run_warnings import doubt_warnings, facts_in, invalid_warnings, run_warnings
from loadgo.measures.summary import Summary
from loadgo.measures.total_time import TotalTime
from loadgo.notation.figures import (
    NOT_MEASURED,
    as_code,
    capitalized,
    counted,
    duration,
    money,
    number,
    remaining_share,
    share,
    size,
)
from loadgo.reporting.audit_words import driver_line, little_line, typing_line, usage_line
from loadgo.reporting.host_table import HOSTS_LABEL, hosts_line, unlike_hosts
from loadgo.reporting.limit_table import limits_sentence
from loadgo.reporting.prediction import prediction_answer, prediction_words
from loadgo.reporting.processor_time_words import (
    is_on_other_hosts,
    lost_meters,
    metered_answer,
    time_lines,
    without_load,
)
from loadgo.reporting.run_words import limits_in_words
from loadgo.reporting.served_words import doubtful, missed, nothing_served, served, who
from loadgo.reporting.simulated_machine import simulated, virtual_time
from loadgo.reporting.view import View

SPEED_LABEL = "Speed"
"""The label of the note on the processors' speed."""
_MOST_BUSY_PROGRAMS = 3
"""Most programs that a note on a busy host names."""


def answer(summary: Summary) -> str:
    """The finding in one to four sentences."""
    if without_load(summary):
        return metered_answer(summary)
    if not summary.everything.response.count:
        return nothing_served(summary)
    is_doubtful = bool(summary.fit_warnings)
    if foreseen := prediction_answer(summary.prediction, is_doubtful=is_doubtful):
        of_run = [*missed(summary), *doubtful(summary)]
        of_one = f" In the run as fitted {', '.join(of_run)}." if of_run else ""
        doubtful_fit = " with a doubtful fit" if is_doubtful else ""
        return f"{who(summary)}, predicted{doubtful_fit}: {foreseen}{of_one}"
    sentences = (served(summary), limits_sentence(summary), _throughput(summary), unlike_hosts(summary))
    return " ".join(filter(None, sentences))


def warnings(summary: Summary) -> list[str]:
    """The failed checks, and the reasons to doubt the entire report, each with a remedy; empty for a good run."""
    facts = facts_in(summary)
    failed = [f"Failed: {result.text}." for result in summary.fail_if if result.failed]
    return [*invalid_warnings(facts), *failed, *doubt_warnings(facts)]


def is_doubted(summary: Summary) -> bool:
    """Whether a warning speaks against the figures. A failed check does not."""
    return bool(run_warnings(facts_in(summary)))


def checks_sentence(summary: Summary) -> str:
    """The checks that passed, and how many failed: these are warnings. Empty without checks."""
    count, passed = len(summary.fail_if), [result.text for result in summary.fail_if if not result.failed]
    if not count:
        return ""
    failed = count - len(passed)
    how_many = f"{failed} of {counted(count, 'check')} failed." if failed else ""
    return " ".join(filter(None, (how_many, f"Passed: {'; '.join(passed)}." if passed else "")))


def _speed(summary: Summary) -> str:
    """How fast the processors were, and whether this changed in the stretch; empty where it was not measured."""
    speed = summary.processor_speed
    if speed is None:
        return ""
    return (
        f"{capitalized(speed_clause(speed))}, by {counted(speed.pieces, 'piece')} of the reference work. A piece took "
        f"{duration(speed.mean_ns)} of a processor on average; single ones were done at {speed.slow:.2f} to "
        f"{speed.fast:.2f} of the mean speed (p10 to p90)."
    )


def _partly_busy(summary: Summary) -> str:
    """A note if the host had a little other work, or an uncertain amount."""
    if summary.other_work is None or summary.other_work.level == "busy":
        return ""
    clause = busy_clause(summary.other_work)
    return f"{clause}. That may have lengthened the response times." if clause else ""


def _busy_programs(summary: Summary) -> str:
    """The programs that kept another host busy, if it is not known whose they were; empty for a host that is quiet."""
    total_time, host = summary.total_time, str(summary.run.system.get("name", ""))
    if not host.startswith(SSH_SCHEME) or summary.other_work is not None or total_time is None:
        return ""
    shares = [(total_time.share_of(row.cpu_ns) or 0.0, row.name) for row in summary.whose_time.processes]
    largest = sorted(shares, reverse=True)[:_MOST_BUSY_PROGRAMS]
    busy = [f"{as_code(name)} {share(part)}" for part, name in largest if part > BUSY_SHARE]
    if not busy:
        return ""
    return (
        f"The programs that used most of the processors' time of {host}: {', '.join(busy)}. Which of that was the "
        "users' is not known. If others ran them, response times are longer for it: see who is logged in there."
    )


def fine_print(summary: Summary, view: View | None = None) -> list[tuple[str, str]]:
    """The notes below the tables as label and sentence. A label may occur several times."""
    if without_load(summary):
        lines = [*time_lines(summary, view or View()), ("Conditions", _conditions(summary)), *_lost(summary)]
        return [(label, line) for label, line in [*lines, *(("Note", note) for note in summary.notes)] if line]
    lines = [
        *(("Prediction", line) for line in prediction_words(summary.prediction)),
        (HOSTS_LABEL, hosts_line(summary)),
        *time_lines(summary, view or View()),
        (SPEED_LABEL, _speed(summary)),
        ("Network", network_line(summary)),
        ("Usage", _usage(summary)),
        ("Usage", typing_line(summary.typing)),
        ("Driver", driver_line(summary)),
        *(("Driver", note) for note in summary.driver.notes),
        ("Neighbours", _partly_busy(summary)),
        ("Neighbours", _busy_programs(summary)),
        ("Audit", "There is nothing to audit." if summary.audit is None else little_line(summary.audit)),
        ("Audit", usage_line(summary.usage_audit)),
        ("Cost", _tariff(summary)),
        *(("Fail if", f"{'failed' if result.failed else 'passed'}: {result.text}") for result in summary.fail_if),
        ("Conditions", _conditions(summary)),
        ("Sessions", _session_ends(summary)),
        *_lost(summary),
        *(("Note", line) for line in _legend(summary)),
    ]
    return [(label, line) for label, line in lines if line]


def _lost(summary: Summary) -> list[tuple[str, str]]:
    """The losses of the records, in at least one line."""
    losses = [f"{_counted(loss.count, loss.what)} lost: {loss.reason}" for loss in summary.losses]
    if summary.run.outcome == "killed":
        losses.append(CUT_OFF_LOSSES)
    return [("Lost", line) for line in losses or ["Nothing."]]


def _counted(count: int, item: str) -> str:
    """`1 session`, `3 sessions`, `3 records of usage`."""
    nouns = {"usage": ("record", " of usage"), "meters": ("reading", " of the meters")}
    name, of = nouns.get(item, (item, ""))
    singular, plural = f"{name}{of}", f"{name}s{of}"
    return f"{number(count)} {singular if count == 1 else plural}"


def network_line(summary: Summary) -> str:
    """The part of the response time that the network and ssh took; empty where no log-in leads through a network.

    A log-in by `su` has a shell that measures its lines, too: the difference is then the terminal's.
    """
    network = summary.network
    if network is None:
        return _NETWORK_NOT_KNOWN if is_on_other_hosts(summary) else ""
    if not (is_on_other_hosts(summary) or by_network(summary.run.system)):
        return ""
    part = share(network.network_ns / network.response_ns) if network.response_ns else "–"
    known = "" if network.low_ns is None else f" ({duration(network.low_ns)} to {duration(network.high_ns)})"
    of_all = "" if network.known == network.answered else f", of {share(network.known / network.answered)} of the lines"
    return (
        f"The network and ssh took {duration(network.network_ns)}{known} of a mean response of "
        f"{duration(network.response_ns)}, or {part}; the shell there took {duration(network.there_ns)}{of_all}."
    )


_NETWORK_NOT_KNOWN = (
    "How much of the response times is the network's is not known: it takes bash 5 or later as the users' shell there."
)


def _usage(summary: Summary) -> str:
    """The sources of an interaction's usage, and their resolution."""
    usage_section = summary.run.usage
    if simulated(summary):
        return "Exact: the machine knows all that it does."
    sources = [(name, str(usage_section.get(name, ""))) for name in ("cpu", "faults", "waits")]
    parts = [f"{name.replace('cpu', 'CPU')} from {source}" for name, source in sources if source]
    if usage_section.get("cpu_resolution_ns", 1) > 1:
        parts.append(f"CPU to {duration(usage_section['cpu_resolution_ns'])}")
    if usage_section.get("split"):
        parts.append(f"user and system divided by {usage_section['split']}")
    return f"{', '.join(parts)}." if parts else ""


def _conditions(summary: Summary) -> str:
    """The host's load before and after the run, and the users' limits."""
    conditions = summary.run.conditions
    if simulated(summary):
        return virtual_time(summary)
    parts = []
    if "load_average" in conditions:
        before, after = (_load_average(conditions.get(name)) for name in ("load_average", "load_average_end"))
        parts.append(f"load average {before} before and {after} at the end")
    if "users_logged_in" in conditions:
        parts.append(f"{counted(int(conditions['users_logged_in']), 'other')} logged in")
    if "memory_available_bytes" in conditions:
        after = size(conditions.get("memory_available_end_bytes"))
        parts.append(f"{size(conditions['memory_available_bytes'])} of memory available before and {after} at the end")
    limits = limits_in_words(summary)
    parts += [f"all users together held to {limits}"] if limits else []
    return f"{'; '.join(parts)}." if parts else ""


def _load_average(averages: list[float] | None) -> str:
    return " ".join(f"{value:.2f}" for value in averages) if averages else NOT_MEASURED


def _session_ends(summary: Summary) -> str:
    """The ends of the sessions in a line."""
    ended = summary.sessions
    parts = [
        (ended.done, "logged out"),
        (ended.died, "died"),
        (ended.refused, "refused at log-in"),
        (ended.stopped, "stopped by the run's end"),
    ]
    counts = ", ".join(f"{number(count)} {what}" for count, what in parts if count)
    return f"{counts}." if counts else "none is recorded."


def scope(summary: Summary) -> str:
    """The interactions that the figures count."""
    stretch = summary.stretch
    if without_load(summary):
        whose = "this host" if summary.metered_hosts is None else "each host"
        return f"Figures cover all that {whose} did meanwhile."
    if stretch.chosen:
        span = f"{duration(stretch.start_ns)} to {duration(stretch.end_ns)} of the run"
        return f"Figures are of the part from {span}: of {counted(stretch.counted, 'line')} that ended then."
    if stretch.name == "all":
        return f"Figures are of all {number(stretch.counted)} interactions, warm-up and ramp-down with them."
    left_out = f"{number(stretch.warm_up)} of warm-up and {number(stretch.ramp_down)} of ramp-down are left out"
    steady = f"the {counted(stretch.counted, 'interaction')} of the steady phase ({duration(stretch.span_ns)})"
    return f"Figures are of {steady}; {left_out}."


def _tariff(summary: Summary) -> str:
    """The tariff in a line."""
    tariff, cost = summary.cost.tariff, summary.cost
    shift = f", shift {tariff.shift}" if tariff.shift else ""
    rate = tariff.in_words()
    if cost.user_hour is None:
        return f"Unknown, since a charged quantity was not measured ({tariff.title}{shift}: {rate})."
    hour = money(cost.user_hour, tariff.currency)
    scale = tariff.counted
    scale_note = f" The table's costs are of {scale:,} interactions." if scale > 1 else ""
    return f"A user's hour is {hour} at {rate} ({tariff.title}{shift}; {tariff.source}).{scale_note}"


def _legend(summary: Summary) -> list[str]:
    """The meaning of intervals, and the run's notes."""
    if not summary.everything.response.count:
        return list(summary.notes)
    lines = [
        "Intervals hold the quantile in about 95 of 100 long runs: users, and stretches of time, are resampled. "
        "Without an interval, the run is too short for its waits, or has too few users or interactions."
    ]
    return [*lines, *summary.notes]


def _throughput(summary: Summary) -> str:
    stretch = summary.stretch
    if stretch.span_ns <= 0:
        return ""
    if stretch.per_second is None and stretch.counted == 1:
        return "The throughput is not known from one interaction."
    if stretch.per_second is None:
        return f"The throughput is not known: the records cover {duration(stretch.span_ns)} of this."
    per_second = number(stretch.per_second)
    return f"{per_second} interaction{'' if per_second == '1' else 's'} a second{_busy(summary)}."


def _busy(summary: Summary) -> str:
    """The processors' busy share as part of a sentence."""
    total_time = summary.total_time
    if total_time is None:
        return ""
    lost = lost_meters(summary)
    until = f" in the {duration(total_time.span_ns)} until the meters were lost" if lost else ""
    return f"; the processors were {share(total_time.busy_share)} busy{until}{_whose(summary, total_time)}"


def _whose(summary: Summary, total_time: TotalTime) -> str:
    """The users' part of a host's processors' time, and that of other programs where it is large."""
    users_ns, other = total_time.account.users_ns, summary.other_work
    if simulated(summary) or users_ns is None:
        return ""
    users = f", {share(total_time.share_of(users_ns))} for the users"
    if other is None or other.level == "quiet":
        return users
    rest = remaining_share(total_time.busy_share, total_time.share_of(users_ns), other.share)
    least = "at least " if other.at_most else ""
    own = f" and {least}{share(rest)} for loadgo and the kernel" if rest > 0 else ""
    return f"{users}{',' if own else ' and'} {other.in_words} with other things{own}"
