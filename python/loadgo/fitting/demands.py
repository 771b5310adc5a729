"""What each command asks for, from the interactions' own meters: processor time, requests to stores, waits elsewhere.

Nothing that a meter charges to an interaction is regressed: on a machine of 20 light and 5 heavy users, in 600 s, a
regression of utilisation on counts is 64 % off for the light ones, and the interactions' own account 3 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from loadgo.fitting.law_choice import FEWEST, chosen
from loadgo.fitting.uncertainty import Grouping, ratio, spread
from loadgo.fitting.values import Found, Value
from loadgo.notation.figures import in_words
from loadgo.notation.keys import dotted
from loadgo.notation.laws import Law

Floats = NDArray[np.float64]

_FEW = 5
"""Interactions of a command; of fewer its doubt is that of as many draws of an exponential law."""
WORTH_TELLING = 0.005
"""A wait of less than this part of the responses is not modelled."""
_SIDE_BY_SIDE = 1.05
"""From so many times the response on, processor time and waits are of processes at once."""
_ITS_OWN = 0.03
_ITS_OWN_NS = 1e6
"""From this part of a command's response on, and this long, its wait elsewhere has a law of its own."""


def commands_in(rows: pl.DataFrame) -> list[str]:
    """The commands in the order of their first lines in the script."""
    first = rows.group_by("command").agg(pl.col("line").min()).sort("line", "command")
    return [str(name) for name in first["command"]]


def processor_times(rows: pl.DataFrame, groupings: Sequence[Grouping], charged_ns: Floats) -> Found:
    """The processor time of each command's own work: what was metered less `charged_ns`, the supervisor's part."""
    own = np.maximum(rows["cpu"].to_numpy() - charged_ns, 0.0)
    return _by_command(rows, groupings, own, "cpu", "metered")


def _by_command(rows: pl.DataFrame, groupings: Sequence[Grouping], values: Floats, key: str, what: str) -> Found:
    names = rows["command"].to_numpy()
    found, few = [], []
    for name in commands_in(rows):
        mine = (names == name).astype(np.float64)
        found.append(law_value(dotted("commands", name, key), values, mine, groupings, what))
        few += [name] if mine.sum() < _FEW else []
    assumed = [f"{in_words(few)}: typed fewer than {_FEW} times, and known as little"] if few else []
    return Found(tuple(found), tuple(assumed))


def law_value(key: str, values: Floats, mine: Floats, groupings: Sequence[Grouping], what: str) -> Value:
    """The law of `values` where `mine` is 1, under `key`, with its doubt."""
    count = int(mine.sum())
    choice = chosen(values[mine > 0])
    source = f"{what}, {count:,} times: {choice.why}"
    if count < _FEW:
        return Value(key, choice.law, source, deviation=count**-0.5)
    if choice.law.mean <= 0.0:
        return Value(key, choice.law, source)
    own_spread = choice.law.name in ("lognormal", "empirical") and count >= FEWEST
    return Value(
        key=key,
        law=choice.law,
        source=source,
        mean=ratio(groupings, values * mine, mine),
        spread=spread(groupings, values, mine) if own_spread else None,
    )


def requests(rows: pl.DataFrame, groupings: Sequence[Grouping], store: str, wait_ns: float) -> Found:
    """Requests of each command to the only store: its metered wait for it over the mean wait of a request."""
    names, waits = rows["command"].to_numpy(), rows["io"].fill_null(0.0).to_numpy()
    found = []
    for name in commands_in(rows):
        mine = (names == name).astype(np.float64)
        if (waits * mine).sum() <= 0.0:
            continue
        mean = ratio(groupings, waits * mine / wait_ns, mine)
        law = _counts(waits[mine > 0], mean.value, wait_ns)
        source = f"I/O wait metered, {wait_ns / 1e6:.3g} ms a request"
        found.append(Value(dotted("commands", name, "requests", store), law, source, mean=mean))
    return Found(tuple(found))


def _counts(waits: Floats, mean: float, wait_ns: float) -> Law:
    """Always as many requests, or a geometric number: whose wait would vary as these do, each being exponential."""
    if mean <= 1.0 or len(waits) < FEWEST:
        return Law("fixed", (mean,), timed=False)
    of_one = wait_ns**2
    varies = max(float(waits.var()) - mean * of_one, 0.0) / of_one
    return Law("geometric" if varies > mean * (mean - 1) / 2 else "fixed", (mean,), timed=False)


def delays(rows: pl.DataFrame, groupings: Sequence[Grouping], key: str, store: str) -> Found:
    """Waits of the column `key` of each command, as requests to a store where nobody stands in another's way."""
    waits = rows[key].fill_null(0.0).to_numpy()
    if waits.sum() <= WORTH_TELLING * float(rows["response"].sum()):
        return Found(())
    waited = (waits > 0).astype(np.float64)
    service = law_value(dotted("storage", store, "service"), waits, waited, groupings, "waits metered")
    names = rows["command"].to_numpy()
    found = [service]
    for name in commands_in(rows):
        mine = (names == name).astype(np.float64)
        if (waits * mine).sum() > 0.0:
            mean = ratio(groupings, waits * mine / service.law.mean, mine)
            source = "waits metered, in those of the mean length"
            law = Law("fixed", (mean.value,), timed=False)
            found.append(Value(dotted("commands", name, "requests", store), law, source, mean=mean))
    assumed = f"nobody waits for another's request to the {store}: its waits are as long with any number of users"
    return Found(tuple(found), (assumed,), ((dotted("storage", store, "kind"), "server"), _at_once(store)))


def _at_once(store: str) -> tuple[str, str]:
    return dotted("storage", store, "servers"), "any"


def elsewhere(rows: pl.DataFrame, groupings: Sequence[Grouping], interrupt_ns: float, *, busy: bool) -> Found:
    """What is left of each response when all metered parts are taken away: the terminal, timers, other hosts.

    Each interaction makes one request there, whose end costs `interrupt_ns` of a processor: what nobody owns. Where the
    host was `busy`, the kernel's own threads, which nobody meters by interaction, waited for a processor too: the
    median of what is left is taken then.
    """
    rest = _rest(rows, interrupt_ns)
    if busy:
        for name in commands_in(rows):
            mine = rows["command"].to_numpy() == name
            rest[mine] = np.median(rest[mine])
    names, response = rows["command"].to_numpy(), rows["response"].to_numpy()
    apart = [name for name in commands_in(rows) if _is_apart(rest[names == name], response[names == name])]
    found: list[Value] = []
    tables: list[tuple[str, Any]] = []
    together = np.isin(names, [name for name in commands_in(rows) if name not in apart])
    stores = {name: (f"wait-{name}", names == name) for name in apart} | {"": ("terminal", together)}
    for store, mine in stores.values():
        if mine.any():
            what = "what no meter explains"
            found.append(law_value(dotted("storage", store, "service"), rest, mine.astype(np.float64), groupings, what))
            tables += [(dotted("storage", store, "kind"), "server"), _at_once(store)]
    for name in commands_in(rows):
        store = stores[name][0] if name in apart else "terminal"
        tables.append((dotted("commands", name, "requests", store), 1))
    assumed = "what no meter explains of a response takes as long with any number of users"
    assumed += ": of each command its median, since the host was busy" if busy else ""
    return Found(tuple(found), (assumed, *_at_once_on_several(rows)), tuple(tables))


def _at_once_on_several(rows: pl.DataFrame) -> list[str]:
    """The commands whose parts ran, or waited, side by side: they took less time than the sum of it."""
    parts = pl.sum_horizontal("cpu", "ready", "paging", "io")
    sums = rows.group_by("command").agg(parts.sum().alias("parts"), pl.col("response").sum()).sort("command")
    found = [f"{name} ({parts / took:.2f} times)" for name, parts, took in sums.rows() if parts > _SIDE_BY_SIDE * took]
    if not found:
        return []
    return [f"one after the other goes on the machine what ran side by side: {in_words(found)} as much as the response"]


def _rest(rows: pl.DataFrame, interrupt_ns: float) -> Floats:
    parts = [rows[name].fill_null(0.0).to_numpy() for name in ("cpu", "ready", "paging", "io")]
    rest: Floats = np.maximum(rows["response"].to_numpy() - sum(parts) - interrupt_ns, 0.0)
    return rest


def _is_apart(rest: Floats, response: Floats) -> bool:
    return bool(rest.mean() >= max(_ITS_OWN_NS, _ITS_OWN * response.mean()))
