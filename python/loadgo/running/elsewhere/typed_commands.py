"""Rows by command of another host's meters: which of them may belong to another command.

The meters there count a user's events for the line that the driver told last. It tells each line at the prompt before
it, and the agent adds a row to `session_usage` when it has heard of the line. If that was perhaps too late, by the
clocks' bound, events of the line may stand with the command before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.notation.figures import counted, number
from loadgo.records.account_readings import NEVER_NS, InstantArray
from loadgo.records.far_usage import BoundOfUser

UNKNOWN_COMMAND = "(not known)"
"""The command of rows that may belong to several commands."""
COMMAND_TABLES = ("faults", "primitives", "stacks")
"""The tables whose rows may have a user and a command."""
_LONGEST_READING_NS = 500_000_000
"""Rows may hold what came so long after their instant, since a reading takes time. Chosen by hand.

Seen: 180 ms at a load of 15.
"""
_Spans = tuple[InstantArray, InstantArray]
"""Beginnings and ends of spans, in the order of both; no two of them touch."""


@dataclass
class ToldLines:
    """Number of lines whose events surely stand with their own command, and of all lines."""

    known: int = 0
    all: int = 0


def with_sure_commands(
    tables: Mapping[str, pl.DataFrame], interactions: pl.DataFrame, bound_of: BoundOfUser
) -> tuple[dict[str, pl.DataFrame], ToldLines]:
    """The tables of a host's meters with `UNKNOWN_COMMAND` where a command may be another.

    Tells also of how many lines the command is known. The instants of the tables, with `session_usage` among them, are
    on the clock of the interactions.
    """
    told, doubts = ToldLines(), dict[int, _Spans]()
    by_user = _by_user(tables["session_usage"].filter(pl.col("line").is_not_null()))
    for user, lines in _by_user(interactions.sort("sent_ns")).items():
        spans = _doubtful_spans(lines, by_user.get(user), bound_of(user))
        told.all += len(lines)
        told.known += len(lines) - len(spans[0])
        doubts[user] = _merged(spans)
    return {
        name: _with_unknown(rows, doubts) if name in COMMAND_TABLES else rows for name, rows in tables.items()
    }, told


def commands_note(host: object, told: ToldLines) -> str:
    """Why rows by command of `host` have `UNKNOWN_COMMAND`; empty if none has."""
    late = told.all - told.known
    if not late:
        return ""
    return (
        f"by command: {host} heard of {counted(late, 'line')} of {number(told.all)} too late, or perhaps so by the "
        f"clocks' bound; what the meters counted in the seconds of these lines stands as {UNKNOWN_COMMAND}. Users who "
        "think for longer have each line known"
    )


def has_commands(tables: Mapping[str, pl.DataFrame]) -> bool:
    """Whether the agent there was told any line, and its meters have counted anything by command."""
    is_told = tables["session_usage"]["line"].null_count() < len(tables["session_usage"])
    return is_told and any(tables[name]["command"].null_count() < len(tables[name]) for name in COMMAND_TABLES)


def _by_user(frame: pl.DataFrame) -> dict[int, pl.DataFrame]:
    """The rows of each user, with signed instants."""
    instants = [name for name in ("at_ns", "sent_ns", "ready_ns") if name in frame.columns]
    signed = frame.with_columns(pl.col(name).cast(pl.Int64) for name in instants)
    return {int(key[0]): rows for key, rows in signed.partition_by("user", as_dict=True, maintain_order=True).items()}


def _doubtful_spans(lines: pl.DataFrame, heard: pl.DataFrame | None, bound_ns: int) -> _Spans:
    """The times in which events of a user's lines may stand with another command, one for each such line."""
    sent = lines["sent_ns"].to_numpy()
    ready = lines["ready_ns"].fill_null(NEVER_NS).to_numpy()
    numbers = lines["line"].to_numpy().astype(np.int64)
    commands = dict(lines.select("line", pl.col("command").cast(pl.String)).unique().rows())
    names = np.array([commands[number] for number in numbers.tolist()], object)
    if heard is None:
        return sent - bound_ns, np.minimum(ready, NEVER_NS) + bound_ns
    heard = heard.sort("at_ns")
    heard_ns = heard["at_ns"].to_numpy() + bound_ns
    heard_names = np.array([commands.get(number, "") for number in heard["line"].to_list()], object)
    last = np.searchsorted(heard_ns, sent, side="right") - 1
    is_sure = (last >= 0) & (heard_names[np.maximum(last, 0)] == names)
    places = np.flatnonzero(~is_sure)
    ends = [_heard_after(heard_ns, heard_names, int(sent[place]), names[place]) for place in places.tolist()]
    until = np.minimum(np.array(ends, np.int64), ready[places] + bound_ns)
    return sent[places] - bound_ns, until


def _heard_after(heard_ns: InstantArray, heard_names: NDArray[np.object_], sent_ns: int, name: str) -> int:
    """When the agent had surely heard of a line that was sent at `sent_ns`."""
    first = int(np.searchsorted(heard_ns, sent_ns, side="right"))
    later = np.flatnonzero(heard_names[first:] == name)
    return int(heard_ns[first + later[0]]) if len(later) else NEVER_NS


def _merged(spans: _Spans) -> _Spans:
    """The same times in spans that do not touch."""
    begins, ends = spans
    if not len(begins):
        return spans
    ends = np.maximum.accumulate(ends)
    is_first = np.append(True, begins[1:] > ends[:-1])
    is_last = np.append(is_first[1:], True)
    return begins[is_first], ends[is_last]


def _with_unknown(rows: pl.DataFrame, doubts: Mapping[int, _Spans]) -> pl.DataFrame:
    """The rows with `UNKNOWN_COMMAND` where their spans meet a doubtful time of their user."""
    is_unknown = np.zeros(len(rows), bool)
    # A user's rows without a command are of the log-in, or of a first line of which the agent has not heard.
    owned = rows.with_row_index("place").filter(pl.col("user").is_not_null())
    for user, own in _by_user(owned).items():
        begins, ends = doubts.get(user, (np.empty(0, np.int64), np.empty(0, np.int64)))
        at_ns = own["at_ns"].to_numpy()
        first = np.searchsorted(ends, at_ns - own["span_ns"].cast(pl.Int64).to_numpy())
        meets = np.append(begins, NEVER_NS)[first] <= at_ns + _LONGEST_READING_NS
        is_unknown[own["place"].to_numpy()[meets]] = True
    command = pl.when(pl.Series(is_unknown)).then(pl.lit(UNKNOWN_COMMAND)).otherwise(pl.col("command").cast(pl.String))
    return rows.with_columns(command.cast(rows.schema["command"]).alias("command"))
