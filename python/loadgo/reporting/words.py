"""What a report says in sentences: the answer, the warnings, the audit and the notes; plain text for every format to
dress.
"""

from __future__ import annotations

from loadgo.measures.audit import DriverAudit
from loadgo.measures.littles_law import LittleAudit
from loadgo.measures.summary import CommandSummary, Summary
from loadgo.notation.figures import (
    NOT_MEASURED,
    counted,
    duration,
    money,
    money_scale,
    number,
    people,
    quantile,
    seconds,
    share,
    size,
)
from loadgo.reporting.prediction import prediction_answer, prediction_words
from loadgo.reporting.processor_time_words import account_warning, metered_answer, time_lines, without_load
from loadgo.reporting.simulated_machine import machine, simulated, virtual_time
from loadgo.reporting.view import View
from loadgo.stats.quantiles import REPORTED_QUANTILES, samples_needed

# From this share of the processors' time on, what is not this run's is told at the top.
OTHERS_AT_MOST = 0.25


def title(summary: Summary) -> str:
    """The run's name and load: `typical user: 20 users, closed load, …`."""
    if without_load(summary):
        return f"{summary.run.name or summary.run.id or 'this host'}: metered without a load"
    return f"{summary.run.name or summary.run.id or 'a run'}: {people(summary.run.users)}, {load(summary)}"


def load(summary: Summary) -> str:
    """What the users did, in one line."""
    told = summary.run.load
    passes = told.get("passes")
    parts = [
        f"{summary.run.model} load",
        f"think {told['think']}" if told.get("think") else "",
        f"typing {told['typing']}" if told.get("typing") else "",
        f"{passes} pass{'es' if passes != 1 else ''}" if passes else "",
        f"for {told['duration_s']:g} s" if told.get("duration_s") else "",
        f"until {told['until']}" if told.get("until") else "",
        f"{told['arrivals_per_second']:g} log-ins a second" if told.get("arrivals_per_second") else "",
        f"seed {told['seed']}" if "seed" in told else "",
    ]
    return ", ".join(part for part in parts if part)


def system(summary: Summary) -> str:
    """The machine, in one line."""
    told = summary.run.system
    memory, processors = told.get("memory_bytes"), told.get("processors")
    if simulated(summary):
        return machine(summary)
    parts = [
        str(told.get("hostname") or told.get("name") or "an unnamed system"),
        str(told.get("distribution", "")),
        f"kernel {told['kernel']}" if told.get("kernel") else "",
        f"{processors} processor{'s' if processors != 1 else ''}" if processors else "",
        str(told.get("processor", "")),
        f"{memory / 1e9:.1f} GB" if memory else "",
        summary.run.started[:19].replace("T", " "),
    ]
    return ", ".join(part for part in parts if part)


def answer(summary: Summary) -> str:
    """The finding in one to three sentences."""
    if without_load(summary):
        return metered_answer(summary)
    if not summary.everything.response.count:
        return _nothing(summary)
    if foreseen := prediction_answer(summary.prediction):
        missed = _missed(summary)
        of_one = f" In the run as fitted {', '.join(missed)}." if missed else ""
        return f"{_who(summary)}, predicted: {foreseen}{of_one}"
    return " ".join(part for part in (_served(summary), _throughput(summary)) if part)


def warnings(summary: Summary) -> list[str]:
    """What makes the whole report doubtful, each with what to do; empty for a good run."""
    found = [f"INVALID: {reason}" for reason in _driver_faults(summary.driver)]
    if not summary.run.finished:
        found.append("The run has not ended, or was killed: these are the figures up to its last whole record.")
    elif summary.run.outcome not in ("", "done"):
        found.append(f"The run ended early ({summary.run.outcome}): the figures are of what was run until then.")
    if doubtful := account_warning(summary):
        found.append(doubtful)
    if others := "" if without_load(summary) else _others(summary):
        found.append(others)
    if records := _lost_records(summary):
        are = "is" if records == 1 else "are"
        found.append(f"{_counted(records, 'record')} {are} lost (see Lost): the figures are of those that were kept.")
    if summary.audit is not None and summary.audit.verdict == "broken":
        found.append(
            "The records contradict themselves: Little's law does not hold (see the audit). "
            "Trust no figure before that is explained."
        )
    return found


def _others(summary: Summary) -> str:
    """A warning where the processors were mostly busy with something else than this run."""
    told = summary.total_time
    taken = None if told is None else told.others_share
    if told is None or taken is None or taken < (told.share_of(told.account.users_ns) or 0.0):
        return ""
    if taken <= OTHERS_AT_MOST:
        return ""
    return (
        f"The host was busy with other things: {share(taken)} of its processors' time was neither the users' nor "
        "loadgo's. These are the response times of a busy host: run it again when it is quiet, or say so beside them."
    )


def fine_print(summary: Summary, view: View | None = None) -> list[tuple[str, str]]:
    """What follows the tables: a label and a sentence each; the same label may come twice."""
    if without_load(summary):
        lines = [*time_lines(summary, view or View()), ("Conditions", _conditions(summary)), *_lost(summary)]
        return [(label, line) for label, line in [*lines, *(("Note", note) for note in summary.notes)] if line]
    lines = [
        *(("Prediction", line) for line in prediction_words(summary.prediction)),
        *time_lines(summary, view or View()),
        ("Usage", _usage(summary)),
        ("Driver", _driver(summary)),
        *(("Driver", note) for note in summary.driver.notes),
        ("Audit", "There is nothing to audit." if summary.audit is None else _little(summary.audit)),
        ("Cost", _tariff(summary)),
        ("Conditions", _conditions(summary)),
        ("Sessions", _people_there(summary)),
        *_lost(summary),
        *(("Note", line) for line in _legend(summary)),
    ]
    return [(label, line) for label, line in lines if line]


def _lost_records(summary: Summary) -> int:
    return sum(loss.count for loss in summary.losses if loss.what == "record")


def _lost(summary: Summary) -> list[tuple[str, str]]:
    """What the records do not hold: always at least one line."""
    found = [f"{_counted(loss.count, loss.what)} lost: {loss.reason}" for loss in summary.losses]
    return [("Lost", line) for line in found or ["Nothing."]]


def _counted(count: int, what: str) -> str:
    """`1 session`, `3 sessions`, `3 records of usage`."""
    of_what = {"usage": ("record", " of usage"), "meters": ("reading", " of the meters")}
    name, of = of_what.get(what, (what, ""))
    one, more = f"{name}{of}", f"{name}s{of}"
    return f"{number(count)} {one if count == 1 else more}"


def _usage(summary: Summary) -> str:
    """Where an interaction's usage was read, and how finely."""
    told = summary.run.usage
    if simulated(summary):
        return "Exact: the machine knows all that it does."
    sources = [(name, str(told.get(name, ""))) for name in ("cpu", "faults", "waits")]
    parts = [f"{name.replace('cpu', 'CPU')} from {source}" for name, source in sources if source]
    if told.get("cpu_resolution_ns", 1) > 1:
        parts.append(f"CPU to {duration(told['cpu_resolution_ns'])}")
    if told.get("split"):
        parts.append(f"user and system told apart by {told['split']}")
    return f"{', '.join(parts)}." if parts else ""


def _conditions(summary: Summary) -> str:
    """How busy the machine was, and what the users were held to."""
    told, limit = summary.run.conditions, summary.run.limit
    if simulated(summary):
        return virtual_time(summary)
    parts = []
    if "load_average" in told:
        before, after = (_load_average(told.get(name)) for name in ("load_average", "load_average_end"))
        parts.append(f"load average {before} before and {after} at the end")
    if "users_logged_in" in told:
        parts.append(f"{number(told['users_logged_in'])} others logged in")
    if "memory_available_bytes" in told:
        after = size(told.get("memory_available_end_bytes"))
        parts.append(f"{size(told['memory_available_bytes'])} of memory available before and {after} at the end")
    held = [f"memory {size(limit['memory_bytes'])}"] if "memory_bytes" in limit else []
    held += [f"{limit['cpus']:g} processors"] if "cpus" in limit else []
    held += [f"paging to {limit['swap']}"] if "swap" in limit else []
    parts += [f"users held to {', '.join(held)}"] if held else []
    return f"{'; '.join(parts)}." if parts else ""


def _load_average(told: list[float] | None) -> str:
    return " ".join(f"{value:.2f}" for value in told) if told else NOT_MEASURED


def _people_there(summary: Summary) -> str:
    """How the sessions ended, in one line."""
    ended = summary.sessions
    parts = [
        (ended.done, "logged out"),
        (ended.died, "died"),
        (ended.refused, "refused at log-in"),
        (ended.stopped, "stopped by the run's end"),
    ]
    told = ", ".join(f"{number(count)} {what}" for count, what in parts if count)
    return f"{told}." if told else "none is recorded."


def scope(summary: Summary) -> str:
    """Which interactions the figures are of."""
    stretch = summary.stretch
    if without_load(summary):
        return "Figures are of all that this host did meanwhile."
    if stretch.name == "all":
        return f"Figures are of all {number(stretch.counted)} interactions, warm-up and ramp-down with them."
    left_out = f"{number(stretch.warm_up)} of warm-up and {number(stretch.ramp_down)} of ramp-down are left out"
    steady = f"the {counted(stretch.counted, 'interaction')} of the steady phase ({duration(stretch.span_ns)})"
    return f"Figures are of {steady}; {left_out}."


def _driver(summary: Summary) -> str:
    """The driver's verdict on itself, in one line."""
    told = summary.driver
    if told.lateness_p99_ns is None:
        return "It sent nothing."
    if simulated(summary):
        return "Good: time is virtual, and no line was late."
    times = (told.lateness_p50_ns, told.lateness_p99_ns, told.lateness_max_ns)
    late = " / ".join(duration(time) for time in times)
    parts = [f"lateness p50 / p99 / max {late} (p99 at most {duration(told.lateness_limit_ns)})"]
    if told.late_lines == 1:
        parts.append("one line was later than that, which alone tells nothing")
    if told.host_share is not None:
        parts.append(f"{share(told.host_share)} of the host (at most {share(told.host_share_limit)})")
    if told.scheduling:
        parts.append(f"scheduling {told.scheduling}")
    if told.proof:
        parts.append(told.proof)
    return f"{'Good' if told.valid else 'NOT GOOD'}: {', '.join(parts)}."


def _tariff(summary: Summary) -> str:
    """The tariff, in one line."""
    told, cost = summary.cost.tariff, summary.cost
    shift = f", shift {told.shift}" if told.shift else ""
    rate = told.in_words()
    if cost.user_hour is None:
        return f"Not to be had, since what is charged for was not measured ({told.title}{shift}: {rate})."
    hour = money(cost.user_hour, told.currency)
    scale = money_scale([row.cost for row in (*summary.commands, summary.everything)])
    each = f" The table's costs are of {scale:,} interactions." if scale > 1 else ""
    return f"A user's hour is {hour} at {rate} ({told.title}{shift}; {told.source}).{each}"


def _legend(summary: Summary) -> list[str]:
    """The foot of the tables: what a dash, `few` and `never` mean, and every note."""
    rule = ", ".join(f"p{100 * p:g} from {samples_needed(p)}" for p in REPORTED_QUANTILES)
    rows = [*summary.commands, summary.everything]
    if not summary.everything.response.count:
        return list(summary.notes)
    lines = [
        "Intervals hold the quantile in about 95 of 100 long runs: users, and stretches of time, are drawn again; "
        "where there is none, the run is too short for the waits in it, or of too few users and interactions."
    ]
    if any(found.state == "too few samples" for row in rows for found in row.response.quantiles):
        lines.append(f"few: too few samples for this quantile; there is {rule} samples on.")
    if any(found.state == "never" for row in rows for found in row.response.quantiles):
        lines.append("never: so many lines were never answered that this quantile has no time.")
    if any(_unmeasured(row) for row in rows):
        lines.append("–: not measured, which is not zero.")
    return [*lines, *summary.notes]


def _nothing(summary: Summary) -> str:
    if summary.sessions.users and summary.sessions.refused == summary.sessions.users:
        return f"Nobody was served: all {number(summary.sessions.users)} log-ins were refused."
    if summary.sessions.users and summary.sessions.died == summary.sessions.users:
        return f"Nobody was served: all {number(summary.sessions.users)} sessions died before a line was answered."
    if _lost_records(summary):
        return "No record of a line was kept: there is nothing to report."
    return "Nobody typed a line: there is nothing to report."


def _who(summary: Summary) -> str:
    ended = summary.sessions
    return people(max(ended.users, summary.run.users if not ended.users else 0))


def _missed(summary: Summary) -> list[str]:
    """What was not well, counted."""
    everything, ended = summary.everything, summary.sessions
    missed = [
        (ended.refused, "was refused at log-in", "were refused at log-in"),
        (ended.died, "session died", "sessions died"),
        (everything.outcomes.timeouts, "line timed out", "lines timed out"),
        (everything.outcomes.failed, "line failed", "lines failed"),
        (everything.outcomes.unconfirmed, "answer is unconfirmed", "answers are unconfirmed"),
    ]
    return [f"{number(count)} {one if count == 1 else many}" for count, one, many in missed if count]


def _served(summary: Summary) -> str:
    everything, ended = summary.everything, summary.sessions
    told = _missed(summary)
    good = not (ended.refused or ended.died or everything.outcomes.errors)
    verdict = (
        f"{'everyone was' if good else 'not everyone was well'} served{': ' + ', '.join(told) + ';' if told else ':'}"
    )
    return f"{_who(summary)}; {verdict} {_slowest(summary)}"


def _slowest(summary: Summary) -> str:
    name = "p90" if _has(summary.everything, "p90") else "p50"
    whole = f"{name} {quantile(summary.everything.response.quantile(name))} over all commands"
    if not _has(summary.everything, name):
        return f"response times of {number(summary.everything.response.count)} interaction are too few for a quantile."
    rows = [row for row in summary.commands if _has(row, name)]
    if len(rows) < 2:
        return f"{whole}."
    slowest = max(rows, key=lambda row: row.response.quantile(name).value_ns or float("inf"))
    left_out = len(summary.commands) - len(rows)
    of_those = f" of the {len(rows)} commands with samples enough for one" if left_out else " command"
    return f"{name} {quantile(slowest.response.quantile(name))} for {slowest.name}, the slowest{of_those}, and {whole}."


def _has(row: CommandSummary, name: str) -> bool:
    return row.response.quantile(name).state != "too few samples"


def _throughput(summary: Summary) -> str:
    stretch = summary.stretch
    if stretch.span_ns <= 0:
        return ""
    if stretch.per_second is None:
        return f"How many a second is not to be told: the records cover {duration(stretch.span_ns)} of this."
    return f"{number(stretch.per_second)} interactions a second{_busy(summary)}."


def _busy(summary: Summary) -> str:
    """How busy the processors were."""
    told = summary.total_time
    if told is None:
        return ""
    return f"; the processors were {share(told.busy_share)} busy"


def _driver_faults(told: DriverAudit) -> list[str]:
    faults = []
    if told.late:
        faults.append(
            f"the driver was the bottleneck: 1 line in 100 was sent more than {duration(told.lateness_p99_ns)} late "
            f"({duration(told.lateness_limit_ns)} is allowed). Run with fewer users, give the driver SCHED_FIFO or a "
            "processor of its own (see `loadgo doctor`), or drive from another machine."
        )
    if told.takes_too_much:
        faults.append(
            f"the driver took {share(told.host_share)} of the host that it measures "
            f"({share(told.host_share_limit)} is allowed). Run with fewer users or longer think times, "
            "or drive from another machine over ssh."
        )
    return faults


def _little(told: LittleAudit) -> str:
    there = f"{_users(told.computed)} users computed, {_users(told.measured)} there"
    verdict = {
        "holds": f"holds within {share(abs(told.discrepancy))}",
        "broken": f"BROKEN by {share(abs(told.discrepancy))}",
        "too short to tell": "too few interactions, or too short a window beside their cycles, to tell",
    }[told.verdict]
    if told.law == "L = lambda W":
        terms = f"L = λW = {number(told.rate_per_s)}/s × {seconds(told.stay_s or 0)}"
    else:
        response, think = seconds(told.response_s or 0), seconds(told.think_s or 0)
        terms = f"N = X(R + Z) = {number(told.rate_per_s)}/s × ({response} + {think})"
    return f"Little's law, {terms}: {there}; {verdict}."


def _users(value: float) -> str:
    """A mean number of users, to one decimal."""
    return f"{value:,.1f}"


def _unmeasured(row: CommandSummary) -> bool:
    told = row.usage
    return None in (
        told.cpu_user_ns,
        told.ready_wait_ns,
        told.paging_wait_ns,
        told.io_wait_ns,
        told.faults_major,
        row.cost,
    )
