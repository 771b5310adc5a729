"""Sentences of a report about processor time: the meaning of its lines, their precision, and loadgo's own time."""

from __future__ import annotations

from collections.abc import Mapping

from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.sampled_time import SAMPLED_TIER, dividing_clock_hz
from loadgo.measures.summary import Summary
from loadgo.measures.total_time import TotalTime
from loadgo.measures.vocabulary import in_words_of
from loadgo.measures.window_sample import FEWEST_WINDOWS
from loadgo.notation.figures import (
    capitalized,
    counted,
    duration,
    exact_share,
    in_words,
    precise_share,
    share,
)
from loadgo.notation.terms import System, category_name, category_term, idle_cause, meter_name
from loadgo.reporting.meter_price import PRICE_LABEL, PRICE_METER, price_line
from loadgo.reporting.metered_command_words import command_in_words, holds_the_meters, times_of_command
from loadgo.reporting.metered_host_table import metered_hosts_answer, most_used
from loadgo.reporting.simulated_machine import simulated
from loadgo.reporting.view import View

PROCESS_DIFFERENCE_SHARE = 0.005
"""A note explains why time by process differs from the busy time if it does by this share."""

SUMS_LABEL = "Sums"
"""The label of the note that times of threads add up."""
COVERAGE_LABEL = "Coverage"
PROCESSORS_LABEL = "Processors"
_COVERAGE_TOLERANCE = 0.02
"""The tables of the meters cover the stretch if their spans are as long as it, within this share."""
_LONGER_TOLERANCE = 0.06
"""The same where the spans are longer than the stretch: one that lies in it may end a twentieth of itself later."""
_FAR_COVERAGE_TOLERANCE = 0.2
"""A short report says what the tables cover if their spans differ by more from the stretch."""

_CLEAR_IDLE_CATEGORIES = ("idle zero", "idle page wait", "idle disk wait", "idle")
_CLEAR_BUSY_CATEGORIES = (
    *("user", "nice", "system", "primitive", "page fault", "interrupt", "irq", "softirq"),
    *("terminal", "network", "process creation"),
)
"""Categories whose names say what they are, so that a report has no note on them."""

_SHOWN_OWNER_SHARE = 0.005
"""Owners with a smaller share of the processors' time are left out of the line on the owners."""


def owners_line(summary: Summary) -> str:
    """The owners of the processors' time, as `users 31.0 %, other work 40.0 %, idle 29.0 %`; empty if not measured."""
    total_time = summary.total_time
    if total_time is None or total_time.account.users_ns is None or not total_time.total_ns:
        return ""
    account = total_time.account
    own = [part for part in (account.driver_ns, account.meters_ns) if part is not None]
    others = summary.other_work.share if summary.other_work is not None else total_time.others_share
    named = {
        "users": total_time.share_of(account.users_ns) or 0.0,
        "the supervisor": total_time.share_of(account.supervisor_ns) or 0.0,
        "other work": 0.0 if simulated(summary) else others or 0.0,
        "loadgo": total_time.share_of(sum(own)) or 0.0,
        "the hypervisor": total_time.share_of(total_time.category_time_ns("steal")) or 0.0,
    }
    idle_ns = sum(row.time_ns for row in total_time.categories if not row.busy and row.name != "steal")
    idle = total_time.share_of(idle_ns) or 0.0
    named["the kernel's own work"] = max(1 - idle - sum(named.values()), 0.0)
    shown = [(name, part) for name, part in named.items() if name == "users" or part >= _SHOWN_OWNER_SHARE]
    return ", ".join(f"{name} {share(part)}" for name, part in (*shown, ("idle", idle)))


def without_load(summary: Summary) -> bool:
    """Whether a host was metered without a load of users, alone or beside a command."""
    has_time = summary.total_time is not None or summary.metered_hosts is not None
    return summary.run.kind == "meter" and has_time


def metered_answer(summary: Summary) -> str:
    """The answer of a metered host: the command's time, how busy the processors were, and idle time by cause."""
    total_time = summary.total_time
    if summary.metered_hosts is not None:
        return metered_hosts_answer(summary.metered_hosts, summary.stretch.span_ns)
    assert total_time is not None
    count = len(total_time.processors)
    subject = "the processor was" if count == 1 else f"{count} processors were"
    idle = [
        (idle_cause(row.name), total_time.share_of(row.time_ns) or 0.0) for row in total_time.categories if not row.busy
    ]
    causes = [f"{exact_share(part)} {name}" for name, part in sorted(idle, key=lambda row: -row[1]) if part >= 0.0005]
    idle_sentence = f" Idle: {', '.join(causes)}." if causes and total_time.kind == "meters" else ""
    busy = f"{subject} {exact_share(total_time.busy_share)} busy over {duration(total_time.span_ns)}."
    if summary.commands:
        around = f"the host was metered for {duration(total_time.span_ns)}, from before the command to after it"
        busy = f"{around}: {subject} {exact_share(total_time.busy_share)} busy."
    return f"{command_in_words(summary)}{capitalized(busy)}{idle_sentence}{most_used(summary, total_time)}"


def _sums(summary: Summary) -> str:
    """A note that times of threads add up, if a time of a metered command is longer than the command."""
    if not (without_load(summary) and summary.commands):
        return ""
    took_ns = summary.commands[0].response.mean_ns or 0.0
    if all((time or 0.0) <= took_ns for _, time in times_of_command(summary.everything.usage)):
        return ""
    return (
        "The command's processor time and its waits are sums over all its processes and threads. Several run or wait "
        "at once, so a sum can be longer than the time that the command took."
    )


def time_lines(summary: Summary, view: View) -> list[tuple[str, str]]:
    """Notes on processor time as label and sentence; none if it was not measured."""
    total_time = summary.total_time
    if total_time is None:
        return []
    lines = [
        (PROCESSORS_LABEL, line)
        for line in (_account(total_time), _sampled(summary, total_time), _non_idle(total_time))
    ]
    lines += [(PROCESSORS_LABEL, _process_difference(summary, total_time))]
    lines += [(SUMS_LABEL, _sums(summary)), (COVERAGE_LABEL, _coverage(summary, total_time))]
    lines += [("Own time", _own_time(summary, total_time)), (PRICE_LABEL, price_line(total_time, summary.run.meters))]
    lines += _vocabulary(summary, total_time, view)
    lines += [("Meters", line) for line in (*_meters(summary), _of_command(summary), *_unclocked(summary))]
    lines += [("Meters", line) for line in (_by_user(summary), breakdown_not_metered(summary))]
    return [(label, line) for label, line in lines if line]


def word_lines(summary: Summary) -> list[tuple[str, str]]:
    """Notes on the meanings of the categories that occur and whose names do not say them."""
    total_time = summary.total_time
    lines = [] if total_time is None else [_busy(total_time), _idle(total_time)]
    return [(PROCESSORS_LABEL, line) for line in lines if line]


def _account(total_time: TotalTime) -> str:
    """The precision of the account, and the meaning of others' time."""
    if total_time.kind == "machine":
        return "Time is exact."
    account, sentence = total_time.account, "The times are from the meters"
    if total_time.kind != "meters":
        sentence = f"The kernel counts time in ticks, ± {duration(account.resolution_ns)} here"
    if total_time.wall_ns:
        of_wall = precise_share(total_time.total_ns / total_time.wall_ns)
        sentence += f"; the categories add up to {of_wall} of the wall time"
    others = "Others: the rest of the busy time, of kernel workers that move terminal bytes and of other processes. "
    return f"{'' if account.unattributed_ns is None else others}{sentence}."


def _sampled(summary: Summary, total_time: TotalTime) -> str:
    """A note on the clock that divided the busy time; empty where none did."""
    if all(row.error_ns is None for row in total_time.categories):
        return ""
    hz = dividing_clock_hz(summary.run.meters)
    return f"±: half of the 95 % interval, where a clock of {hz:,} Hz divides the busy time, which is exact as a whole."


def covers_far_less_or_more(summary: Summary) -> bool:
    """Whether the spans of the meters differ so much from the stretch that a short report says it."""
    return summary.total_time is not None and _span_difference(summary, summary.total_time) > _FAR_COVERAGE_TOLERANCE


def lost_meters(summary: Summary) -> bool:
    """Whether the meters were lost before the end of the stretch, so that their spans cover its beginning alone."""
    is_lost = any(loss.what == "meters" for loss in summary.losses)
    total_time = summary.total_time
    return (
        is_lost and total_time is not None and total_time.span_ns < (1 - _COVERAGE_TOLERANCE) * summary.stretch.span_ns
    )


def _span_difference(summary: Summary, total_time: TotalTime) -> float:
    """The difference between the meters' spans and the stretch of the figures, as a share of the stretch."""
    span_ns = summary.stretch.span_ns
    return abs(total_time.span_ns / span_ns - 1) if span_ns > 0 and not without_load(summary) else 0.0


def _coverage(summary: Summary, total_time: TotalTime) -> str:
    """A sentence about the time that the tables of the meters cover, if that is not the stretch of the figures."""
    stretch = summary.stretch
    tolerance = _COVERAGE_TOLERANCE if total_time.span_ns < stretch.span_ns else _LONGER_TOLERANCE
    if _span_difference(summary, total_time) <= tolerance:
        return ""
    steady = "the steady phase" if stretch.name == "steady" else "this part of the run" if stretch.chosen else "the run"
    span = duration(total_time.span_ns)
    if lost_meters(summary):
        return (
            f"The tables of processors' time and of the meters cover the first {span} of {steady} "
            f"({duration(stretch.span_ns)}): then the meters were lost."
        )
    if total_time.span_ns < stretch.span_ns:
        return (
            f"The tables of processors' time and of the meters cover {span} of {steady} ({duration(stretch.span_ns)}): "
            "the metered spans that lie in it."
        )
    return (
        f"The tables of processors' time and of the meters cover {span}, since no metered span lies in {steady} "
        f"({duration(stretch.span_ns)}): they have log-ins and log-outs, too."
    )


def _busy(total_time: TotalTime) -> str:
    """The meanings of the categories of busy time that occur and whose names do not say them."""
    if total_time.kind == "kernel's ticks":
        return ""
    rows = [row.name for row in total_time.categories if row.busy and row.time_ns]
    return _explained("Busy", [name for name in rows if name not in _CLEAR_BUSY_CATEGORIES], total_time)


def _idle(total_time: TotalTime) -> str:
    """The meanings of the categories of idle time that occur and whose names do not say them."""
    rows = [row.name for row in total_time.categories if not row.busy and row.time_ns]
    return _explained("Idle by cause", [name for name in rows if name not in _CLEAR_IDLE_CATEGORIES], total_time)


def _explained(heading: str, categories: list[str], total_time: TotalTime) -> str:
    """The heading, and each category with its meaning; empty without categories."""
    system: System = "machine" if total_time.kind == "machine" else "host"
    meanings = [f"{idle_cause(name)}, {_as_clause(category_term(name).sentence_on(system))}" for name in categories]
    return f"{heading}: {'; '.join(meanings)}." if meanings else ""


def _as_clause(sentence: str) -> str:
    """The sentence as a part of a longer one: without its stop, and with a small first letter."""
    return f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}".removeprefix("idle, ")


def _non_idle(total_time: TotalTime) -> str:
    """The categories that the percentage of non-idle time leaves out."""
    left_out = [idle_cause(row.name) for row in total_time.categories if not row.in_non_idle]
    causes = "" if total_time.kind == "kernel's ticks" else "idle time of these causes: "
    return f"Of non-idle: the share of all time except {causes}{in_words(left_out)}." if left_out else ""


def _process_difference(summary: Summary, total_time: TotalTime) -> str:
    """The reason why time by process differs from the busy time by more than `PROCESS_DIFFERENCE_SHARE`."""
    by_process_ns = sum(row.cpu_ns or 0 for row in summary.whose_time.processes)
    busy_ns = total_time.account.busy_ns
    if total_time.kind != "meters" or not by_process_ns or abs(by_process_ns / busy_ns - 1) <= PROCESS_DIFFERENCE_SHARE:
        return ""
    return (
        f"Time by process adds up to {duration(by_process_ns)}, busy time to {duration(busy_ns)}: a process is charged "
        "when it leaves the processor, so its time at the end of a span counts in the next span."
    )


def _of_command(summary: Summary) -> str:
    """The parts of the time and the tables of a single metered command."""
    if not (summary.run.kind == "meter" and summary.commands and holds_the_meters(summary)):
        return ""
    return (
        "The command's processor time includes the meters' programs, which run at each of its system calls and faults: "
        "it takes less without them, or with --meters cheap. Its system calls and its own tables count from the start "
        "of its process (fork), the time and the faults above from that of its program (exec), some dozen faults later."
    )


def _unclocked(summary: Summary) -> tuple[str, ...]:
    """Explanations of untimed faults and interrupts, if there are any."""
    kinds = [row.name for row in summary.meters.faults if row.name.endswith(" unclocked") and row.count]
    interrupts = [kind for kind in kinds if "interrupt" in kind]
    return (
        (_UNCLOCKED_FAULTS if len(kinds) > len(interrupts) else ""),
        (_UNCLOCKED_INTERRUPTS if interrupts else ""),
    )


_UNCLOCKED_FAULTS = (
    "Untimed faults were made by the kernel within a system call for its caller (arguments of execve, buffers of "
    "direct I/O, locked memory), or their event was lost: they are counted, and their time is not known."
)
_UNCLOCKED_INTERRUPTS = (
    "Untimed interrupts came while the kernel ran no program of the meters: the kernel itself counted them, and "
    "their time is in that of the interrupted work."
)


def _own_time(summary: Summary, total_time: TotalTime) -> str:
    """Loadgo's own time in a line."""
    used = total_time.account
    if simulated(summary):
        return "It takes no time of the machine, which is simulated and metered from outside of it."
    if used.laboratory_ns is None:
        return "Its own time was not measured."
    parts = [
        ("driver", used.driver_ns),
        ("sampling and writing", used.meters_ns),
        (
            f"the meters' programs in the kernel ({'calibrated' if used.price is None else 'from windows'})",
            used.instrument_ns,
        ),
    ]
    shares_text = ", ".join(
        f"{name} {exact_share(total_time.share_of(time))}" for name, time in parts if time is not None
    )
    twice = " A part of the last is in the others, too: the sum is an upper bound." if used.instrument_ns else ""
    own_share = exact_share(total_time.share_of(used.laboratory_ns))
    return f"{own_share} of all time was loadgo's own: {shares_text}.{twice}"


def _vocabulary(summary: Summary, total_time: TotalTime, view: View) -> list[tuple[str, str]]:
    """The meanings of a document's words in today's words, and remarks on the printed figures."""
    if view.vocabulary == "today":
        return []
    document = in_words_of(view.vocabulary, total_time, summary.meters)
    lines = "; ".join(f"{line.name}: {line.means_today}" for line in document.lines)
    without = ", ".join(category_name(line.name) for line in document.homeless)
    homeless = [f"No line in {document.year}: {without}."] if without else []
    return [(document.year, line) for line in (f"{lines}.", *homeless, *document.remarks)]


def _meters(summary: Summary) -> list[str]:
    """The meters of the run: exact, estimated with the method, and missing with the reason."""
    meters_section = summary.run.meters
    if not meters_section:
        return []
    notes = [*_windows(summary), *(str(note) for note in meters_section.get("notes", []))]
    exact = [meter_name(str(name)) for name in meters_section.get("exact", [])]
    lines = [f"Exact in the {meters_section.get('tier', '')} meters: {in_words(exact)}."] if exact else []
    lines += [f"Estimated: {names}, {how}." for how, names in _names_by_sentence(meters_section.get("estimated", {}))]
    missing = {name: why for name, why in meters_section.get("not_here", {}).items() if name != PRICE_METER}
    return [*lines, *_missing_meters(missing), *notes]


def _windows(summary: Summary) -> list[str]:
    """How the sampled meters estimate, and what their windows do not show; nothing for other meters."""
    if summary.run.meters.get("tier") != SAMPLED_TIER:
        return []
    windows = summary.meters.windows
    if windows is None:
        return [
            "System calls, faults and interrupts are not known: this time has no window of the sampled meters, or "
            "nothing but their own work."
        ]
    few = f" An interval takes {FEWEST_WINDOWS} windows." if windows.number < FEWEST_WINDOWS else ""
    return [
        f"System calls, faults and interrupts are estimated from {counted(windows.number, 'random window')}, "
        f"{exact_share(windows.share)} of the time; ± is half of a 95 % interval.{few} Bursts between windows are in "
        "no interval: the longer the run, the fewer. By user and command, and for one interaction, they are not known."
    ]


def _missing_meters(reasons: Mapping[str, str]) -> list[str]:
    """A sentence for each reason, with all the meters that are missing for it."""
    return [f"Not measured: {names}, since {why}." for why, names in _names_by_sentence(reasons)]


def _names_by_sentence(sentences: Mapping[str, str]) -> list[tuple[str, str]]:
    """Each sentence once, with the names of all the meters that have it, in words."""
    names: dict[str, list[str]] = {}
    for name, sentence in sentences.items():
        names.setdefault(sentence, []).append(meter_name(name))
    return [(sentence, in_words(of_sentence)) for sentence, of_sentence in names.items()]


def _by_user(summary: Summary) -> str:
    """The source of the users' times."""
    if not summary.whose_time.users or summary.run.kind == "meter":
        return ""
    if summary.whose_time.source == "interactions":
        return "Time by user is that of the users' interactions, without what ran between them."
    return "CPU and CPU wait by user cover all that the user's processes did; the other waits cover interactions only."


def is_on_other_hosts(summary: Summary) -> bool:
    """Whether the users of the run logged in to another host, or to several."""
    return bool(summary.hosts) or str(summary.run.system.get("name", "")).startswith(SSH_SCHEME)


def breakdown_not_metered(summary: Summary) -> str:
    """A note that the requested breakdown was not metered; empty if it was, or if none was requested."""
    by = summary.meters.by
    if by is None or summary.meters.parts:
        return ""
    has_kernel_meters = "idle by cause" in summary.run.meters.get("exact", ())
    if is_on_other_hosts(summary) and not summary.hosts and not has_kernel_meters:
        known = " The processor time of each user is known." if by == "user" else ""
        return (
            f"Faults and system calls by {by} are counted by the kernel's meters, which that account may not have: use "
            f"ssh://root@HOST or `--sudo`, with `--meters exact`.{known}"
        )
    is_exact = simulated(summary) or summary.run.meters.get("tier") == "exact"
    remedy = "" if is_exact else " Only the exact meters do: run it again with `--meters exact`."
    return f"This run's meters did not count faults and system calls by {by}.{remedy}"
