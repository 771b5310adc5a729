"""Sentences about how much live runs differ by themselves: what is known of it, and which experiment would tell."""

from __future__ import annotations

import itertools
import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from loadgo.comparison.between_runs import NEIGHBOUR_TOLERANCE
from loadgo.comparison.difference import Difference
from loadgo.comparison.rows import Matched
from loadgo.comparison.side import Side
from loadgo.measures.other_work import busy_clause
from loadgo.notation.figures import in_words, plain, setting, share
from loadgo.notation.margin import margin_in_words
from loadgo.notation.measures import name_of

ANSWERED_MEASURES = ("response", "cpu", "throughput")
"""The measures of a comparison's answer."""
_REPLACING_OPTIONS = ("--think", "--typing", "--warm-up")
_PAIRS_BY_DEFAULT = 30
"""The largest number of pairs that `loadgo ab` runs without `--pairs`."""
_MOST_TIMES_LONGER = 1000
"""No advice is given to run more than this many times as long."""


def cannot_tell_measures(rows: Matched) -> list[Difference]:
    """The differences of the answer that have no verdict."""
    whole = [rows.whole[name] for name in ANSWERED_MEASURES if name in rows.whole]
    return [difference for difference in whole if difference.verdict == "cannot tell"]


def runs_a_side(rows: Matched) -> str:
    """The number of live runs of the sides, as `one run a side`."""
    counts = sorted({count for count in rows.between.live_runs if count})
    if counts == [1]:
        return "one run a side" if all(rows.between.live_runs) else "one run"
    return f"{' and '.join(str(count) for count in counts)} runs a side"


def pairs_needed(rows: Matched) -> int | None:
    """Number of pairs of runs in turn that would give each figure of the answer a verdict. None if not known."""
    needed = [difference.pairs_needed for difference in cannot_tell_measures(rows)]
    known = [pairs for pairs in needed if pairs is not None]
    return max(known) if known and len(known) == len(needed) else None


def experiment_command(a: Side, b: Side, pairs: int | None = None) -> str:
    """The command of an experiment that runs the variants of both sides in turn, as far as the runs tell it.

    Empty if a side is not on a host, and if the loads differ. If both have the same script and limits, `COMMAND` stands
    for what makes the change. `pairs` is the number that it takes. The runs are as long as those of `a`.
    """
    if any(side.kind != "host" or not side.tables for side in (a, b)):
        return ""
    conditions = [side.tables[0].conditions for side in (a, b)]
    if _load_words(conditions[0]) != _load_words(conditions[1]):
        return ""
    scripts = [str(each.get("script", "")) for each in conditions]
    limits = [_limit(each.get("limit", {})) for each in conditions]
    words = [
        "loadgo",
        "ab",
        *dict.fromkeys(script for script in scripts if script),
        *_load_words(conditions[0]),
        *_length_words(conditions[0]),
    ]
    words += [f"--limit-{letter}={limit}" for letter, limit in zip("ab", limits, strict=True) if limit]
    words += ["--pairs", str(pairs)] if pairs is not None and pairs > _PAIRS_BY_DEFAULT else []
    is_one_variant = scripts[0] == scripts[1] and limits[0] == limits[1]
    return shlex.join(words) + (" --before-a COMMAND --before-b COMMAND" if is_one_variant else "")


def advice(rows: Matched, a: Side, b: Side) -> list[str]:
    """The reason why runs of a host have no verdict though they differ or agree within the runs, and the experiment."""
    differences = _left_open_by_drift(rows)
    if not differences:
        return []
    between = rows.between
    if names_host_change(rows):
        why = host_change(rows)
    elif all(difference.drift == "allowed" for difference in differences):
        why = f"{between.like_runs_in_words} differed by as much among themselves."
    else:
        incomplete = "the runs like A or B have too few answers of all commands" if between.drift == "allowed" else ""
        reason = f": {between.reason or incomplete}" if between.reason or incomplete else ""
        why = f"How much runs of this host differ by themselves is not known from {runs_a_side(rows)}{reason}."
    return [f"{why} {_experiment(rows, a, b)}"]


def names_host_change(rows: Matched) -> bool:
    """Whether the advice on these runs has the sentence on a change of the host between the sides."""
    differences = _left_open_by_drift(rows)
    is_allowed_for = bool(differences) and all(difference.drift == "allowed" for difference in differences)
    return is_allowed_for and rows.between.change_between is not None


def _left_open_by_drift(rows: Matched) -> list[Difference]:
    return [difference for difference in cannot_tell_measures(rows) if difference.cannot_tell_by == "drift"]


def narrowing(rows: Matched, a: Side, b: Side) -> list[str]:
    """Advice on the figures of the answer whose interval is wider than the margin."""
    differences = [difference for difference in cannot_tell_measures(rows) if difference.cannot_tell_by == "width"]
    if not differences:
        return []
    names = in_words([name_of(difference.measure) for difference in differences])
    hold = "intervals of {} include 0 and reach" if len(differences) > 1 else "interval of {} includes 0 and reaches"
    wide = f"The {hold.format(names)} beyond the margin of {margin_in_words(differences[0].margin)}."
    if rows.between.drift == "not known" or any(difference.within_runs for difference in differences):
        # Longer runs would not narrow what lies between two runs.
        has_advice = any(difference.cannot_tell_by == "drift" for difference in cannot_tell_measures(rows))
        return [wide] if has_advice else [f"{wide} {_experiment(rows, a, b)}"]
    times = [difference.times_longer for difference in differences]
    known = [number for number in times if number is not None and number <= _MOST_TIMES_LONGER]
    if len(known) < len(times):
        return [f"{wide} No run of a sensible length would tell: take a wider --margin."]
    units = "runs" if rows.unit == "run" else "interactions"
    return [f"{wide} About {max(2, math.ceil(max(known)))} times as many {units} would tell."]


def _experiment(rows: Matched, a: Side, b: Side) -> str:
    """The advice to run pairs in turn, with their number if it is known, and the command."""
    pairs = pairs_needed(rows)
    is_known = all(difference.run_deviation is not None for difference in cannot_tell_measures(rows))
    number = f", {'about' if is_known else 'at least'} {pairs} times each" if pairs is not None else ""
    command = experiment_command(a, b, pairs)
    if not command and a.kind == b.kind == "host":
        return "Runs of both with the same load would tell."
    if not command:
        return (
            "More runs of the host would tell: 3 on its side, or 5 with its script, users and conditions in the same "
            "folder."
        )
    setting_up = ", where COMMAND sets up A or B" if "COMMAND" in command else ""
    return f"To tell, run A and B in turn{number}: `{command}`{setting_up}"


def about_allowance(rows: Matched) -> list[str]:
    """The notes on the intervals that say whether they contain drift."""
    between = rows.between
    if between.drift == "none" or not between.live_runs[0] + between.live_runs[1] or not _has_intervals(rows):
        return []
    if all(difference.drift != "allowed" for difference in rows.whole.values()):
        return [
            "They are those within the runs. How much runs of this host differ by themselves is not known, so nothing "
            "is called better or worse."
        ]
    how = "are wider by that" if between.added else "are at least as wide as that"
    known_from = between.like_runs_in_words
    return [f"How much runs of this host differ by themselves is known from {known_from}: the intervals {how}."]


def host_change(rows: Matched) -> str:
    """The sentence on a change of the host between the sides; empty if no like runs show one."""
    between = rows.between
    change = between.change_between
    if change is None:
        return ""
    more = f"{abs(100 * change.relative):.0f} % {'longer' if change.relative > 0 else 'shorter'}"
    first, last = plain(change.first_after), plain(change.last_before)
    return (
        f"The host itself changed between A and B: of its {between.like_runs} runs like these, those from {first} on "
        f"have responses that are {more} than those up to {last}. That alone may make the difference, and may hide a "
        f"smaller one. Compare two runs up to {last}, or two from {first} on."
    )


def neighbours(a: Side, b: Side) -> list[str]:
    """The warnings about other programs on the hosts, and about a change of their share between the sides."""
    remedy = "That alone may make the difference."
    if a.kind == b.kind == "host":
        remedy = f"{remedy[:-1]}: `loadgo ab` runs both in turn, so that other work disturbs both alike on average."
    busy = [side for side in (a, b) if side.other_work is not None and side.other_work.level == "busy"]
    are_known = bool(a.others_shares and b.others_shares)
    if not are_known or abs(b.mean_others_share - a.mean_others_share) <= NEIGHBOUR_TOLERANCE:
        return [f"{busy_side(side)}. {remedy}" for side in busy]
    if len(busy) == 1:
        other = b if busy[0] is a else a
        return [f"{busy_side(busy[0])}; in {other.name} it was {share(other.mean_others_share)}. {remedy}"]
    shares = (
        f"{share(a.mean_others_share)} of the processors' time in {a.name} and {share(b.mean_others_share)} in {b.name}"
    )
    return [f"Other programs had {shares}. {remedy}"]


def busy_side(side: Side) -> str:
    """The clause that says that a side's host was busy with other things; empty for a quiet host."""
    return busy_clause(side.other_work, f"{side.name}: ", "up to " if len(side.tables) > 1 else "")


def seeds(a: Side, b: Side, rows: Matched) -> list[str]:
    """The advice to use the same seed, where both sides typed the same script with different ones."""
    if rows.paired or not a.lines or a.lines != b.lines or a.seeds == b.seeds or "printed" in (a.kind, b.kind):
        return []
    return [
        "differ, so the users of both sides drew different think times and commands, which widens the intervals. Run "
        "both sides with the same --seed."
    ]


def _load_words(conditions: Mapping[str, Any]) -> list[str]:
    """The options of a run's load, without its length.

    Those that replace what the script says are taken from the run's command. A run without a command, as those of an
    experiment, has them all.
    """
    load, command = conditions.get("load", {}), [str(word) for word in conditions.get("command", ())]
    words = [] if load.get("users") is None else ["--users", str(load["users"])]
    if not command:
        known = [(option, load.get(key)) for option, key in (("--think", "think"), ("--typing", "typing"))]
        return [*words, *(word for option, text in known if text for word in (option, str(text)))]
    return [*words, *_replacing_options(command)]


def _length_words(conditions: Mapping[str, Any]) -> list[str]:
    """The option of a run's length, where it has one."""
    duration = conditions.get("load", {}).get("duration_s")
    return ["--for", f"{setting(duration)}s"] if isinstance(duration, int | float) else []


def _replacing_options(command: Sequence[str]) -> list[str]:
    """The options in a command that replace what the script says, also those written as `--think=2s`."""
    words: list[str] = []
    for word, following in itertools.pairwise([*command, ""]):
        option, is_joined, value = word.partition("=")
        if option in _REPLACING_OPTIONS:
            words += [option, value if is_joined else following]
    return words


def _has_intervals(rows: Matched) -> bool:
    return any(math.isfinite(difference.interval.low) for difference in rows.whole.values() if difference.interval)


def _limit(limit: Mapping[str, object]) -> str:
    """The limits of a run as `loadgo ab` reads them."""
    keys = {"memory_bytes": "memory", "cpus": "cpus"}
    return ",".join(f"{word}={limit[key]}" for key, word in keys.items() if key in limit)
