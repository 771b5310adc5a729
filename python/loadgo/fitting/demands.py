"""The demands of each command, from the meters of its interactions: processor time, requests to stores, other waits.

What a meter charged to an interaction is used directly. A regression of utilisation on the numbers of interactions is
much worse. With 20 light and 5 heavy users, after 600 s, it is wrong by 64 % for the light users. Their own meters are
wrong by 3 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from loadgo.fitting.dependence import dependence_words, dependences
from loadgo.fitting.law_choice import FEWEST_LAW_VALUES, choose_law
from loadgo.fitting.load_law import LoadedWork, RunLoads, fit_load_law, mean_without_load
from loadgo.fitting.request_counts import RequestWait, request_law
from loadgo.fitting.uncertainty import Grouping, resampled_ratio, resampled_spread, widened
from loadgo.fitting.values import FittedValue, FittedValues
from loadgo.notation.figures import as_code, counted, in_words
from loadgo.notation.keys import dotted
from loadgo.notation.laws import scaled
from loadgo.stats.resample import Floats

_FEWEST_LAW_INTERACTIONS = 5
"""With fewer interactions, a command's mean is as uncertain as that of as many draws from an exponential law."""
_FEW_INTERACTIONS = 30
"""Fewer interactions may lie in so few units that resamples hide how they vary. Then they count as independent, too."""
MODELLED_WAIT_SHARE = 0.005
"""A wait of less than this share of the response times is not modelled."""
_PARALLEL_RATIO = 1.05
"""If processor time and waits are this many times the response time, several processes ran at once."""
_OWN_WAIT_SHARE = 0.03
_OWN_WAIT_NS = 1e6
"""A command has its own law of unmetered waits if their mean is at least this share of the response, and this long."""


def command_names(rows: pl.DataFrame) -> list[str]:
    """The commands in the order of their first lines in the script."""
    first = rows.group_by("command").agg(pl.col("line").min()).sort("line", "command")
    return [str(name) for name in first["command"]]


def fit_processor_times(
    rows: pl.DataFrame, groupings: Sequence[Grouping], charged_ns: Floats, loads: RunLoads | None = None
) -> FittedValues:
    """The processor time of each command's own work: the metered time without `charged_ns`, the supervisor's part.

    With the `loads` of runs that show how it depends on the load, the laws are those of a command without other load.
    """
    work_ns = np.maximum(rows["cpu"].to_numpy() - charged_ns, 0.0)
    law = None if loads is None else fit_load_law(rows, work_ns, groupings, loads)
    names = rows["command"].to_numpy()
    fitted, rare = [], []
    for name in command_names(rows):
        is_command = (names == name).astype(np.float64)
        key = dotted("commands", name, "cpu")
        factor = None if law is None else law.factor_of(name)
        if law is None or factor is None:
            fitted.append(fit_law_value(key, work_ns, is_command, groupings, "metered"))
        else:
            work = LoadedWork(rows, work_ns, is_command, law, factor)
            fitted.append(_value_without_load(key, work, groupings))
        rare += [as_code(name)] if is_command.sum() < _FEWEST_LAW_INTERACTIONS else []
    few = f"{in_words(rare)}: fewer than {_FEWEST_LAW_INTERACTIONS} interactions, so the uncertainty is large"
    shared, assumed = (law.values, law.assumed) if law else ((), ())
    return FittedValues((*shared, *fitted), (*assumed, *((few,) if rare else ())))


def fit_law_value(
    key: str, values: Floats, selected: Floats, groupings: Sequence[Grouping], source_words: str
) -> FittedValue:
    """The value of `key`: the law of `values` where `selected` is 1, with its uncertainty."""
    count = int(selected.sum())
    choice = choose_law(values[selected > 0])
    source = f"{source_words}, in {counted(count, 'interaction')}: {choice.why}"
    if count < _FEWEST_LAW_INTERACTIONS:
        return FittedValue(key, choice.law, source, deviation=count**-0.5)
    if choice.law.mean <= 0.0:
        return FittedValue(key, choice.law, source)
    independent = (
        float(values[selected > 0].std()) / choice.law.mean * count**-0.5 if count < _FEW_INTERACTIONS else 0.0
    )
    mean = widened(resampled_ratio(groupings, values * selected, selected), independent)
    if mean is None:
        return FittedValue(key, choice.law, source, deviation=independent)
    has_own_spread = choice.law.name in ("lognormal", "empirical") and count >= FEWEST_LAW_VALUES
    return FittedValue(
        key=key,
        law=choice.law,
        source=source,
        mean=mean,
        spread=resampled_spread(groupings, values, selected) if has_own_spread else None,
    )


def _value_without_load(key: str, work: LoadedWork, groupings: Sequence[Grouping]) -> FittedValue:
    """The value of `key`: the law of a command's processor time when there is no other load."""
    value = fit_law_value(key, work.unloaded_ns, work.selected, groupings, "metered")
    if value.mean is None:
        return value
    mean = mean_without_load(work, groupings)
    return replace(value, law=scaled(value.law, mean.value / value.law.mean), mean=mean)


def fit_requests(rows: pl.DataFrame, groupings: Sequence[Grouping], store: str, wait_ns: float) -> FittedValues:
    """Requests of each command to the only store: its metered I/O wait divided by the mean wait of a request."""
    names, waits = rows["command"].to_numpy(), rows["io"].fill_null(0.0).to_numpy()
    exponential_wait = RequestWait(mean_ns=wait_ns, deviation_ns=wait_ns)
    fitted = []
    for name in command_names(rows):
        is_command = (names == name).astype(np.float64)
        if (waits * is_command).sum() <= 0.0:
            continue
        mean = resampled_ratio(groupings, waits * is_command / wait_ns, is_command)
        law = request_law(waits[is_command > 0], mean.value, exponential_wait)
        source = f"I/O wait metered, {wait_ns / 1e6:.3g} ms a request"
        fitted.append(FittedValue(dotted("commands", name, "requests", store), law, source, mean=mean))
    return FittedValues(tuple(fitted))


def fit_disk_waits(rows: pl.DataFrame, groupings: Sequence[Grouping]) -> FittedValues:
    """Waits of each command for disks, as requests to a store with unlimited servers, so without queues."""
    waits = rows["io"].fill_null(0.0).to_numpy()
    if waits.sum() <= MODELLED_WAIT_SHARE * float(rows["response"].sum()):
        return FittedValues(())
    has_waited = (waits > 0).astype(np.float64)
    service = fit_law_value(dotted("storage", "disk", "service"), waits, has_waited, groupings, "waits metered")
    names = rows["command"].to_numpy()
    wait = RequestWait(mean_ns=service.law.mean, deviation_ns=service.law.mean * service.law.spread)
    fitted = [service]
    for name in command_names(rows):
        is_command = (names == name).astype(np.float64)
        if (waits * is_command).sum() > 0.0:
            mean = resampled_ratio(groupings, waits * is_command / service.law.mean, is_command)
            source = "waits metered, over their mean length"
            law = request_law(waits[is_command > 0], mean.value, wait)
            fitted.append(FittedValue(dotted("commands", name, "requests", "disk"), law, source, mean=mean))
    assumed = "requests to the disk do not queue: their waits are independent of the number of users"
    return FittedValues(
        tuple(fitted),
        (assumed,),
        ((dotted("storage", "disk", "kind"), "server"), _unlimited_servers("disk")),
    )


def _unlimited_servers(store: str) -> tuple[str, str]:
    return dotted("storage", store, "servers"), "any"


def mean_unmetered_waits(rows: pl.DataFrame, interrupt_ns: float) -> dict[str, float]:
    """The mean unmetered part of the response of each command, in nanoseconds."""
    wait_ns, names = _unmetered_wait(rows, interrupt_ns), rows["command"].to_numpy()
    return {name: float(wait_ns[names == name].mean()) for name in command_names(rows)}


def fit_unmetered_wait(
    rows: pl.DataFrame,
    groupings: Sequence[Grouping],
    interrupt_ns: float,
    taken_ns: Mapping[str, float] = MappingProxyType({}),
    *,
    busy: bool,
) -> FittedValues:
    """The part of each response that no meter explains: waits for the terminal, timers and other hosts.

    Each interaction makes one request of this length. The request's end costs `interrupt_ns` of a processor, which no
    interaction owns. `taken_ns` of it, by command, are other parts of the machine. On a `busy` host, unmetered waits of
    the kernel's threads for a processor are in it too, so the median is taken.
    """
    wait_ns = _unmetered_wait(rows, interrupt_ns)
    for name, each_ns in taken_ns.items():
        selected = rows["command"].to_numpy() == name
        wait_ns[selected] *= max(1.0 - each_ns / wait_ns[selected].mean(), 0.0)
    measured_ns = wait_ns.copy()
    if busy:
        for name in command_names(rows):
            selected = rows["command"].to_numpy() == name
            wait_ns[selected] = np.median(wait_ns[selected])
    names, response = rows["command"].to_numpy(), rows["response"].to_numpy()
    own_wait_names = [
        name for name in command_names(rows) if _has_own_wait(wait_ns[names == name], response[names == name])
    ]
    fitted: list[FittedValue] = []
    tables: list[tuple[str, Any]] = []
    shares_terminal = np.isin(names, [name for name in command_names(rows) if name not in own_wait_names])
    stores = {name: (f"wait-{name}", names == name) for name in own_wait_names} | {"": ("terminal", shares_terminal)}
    for store, selected in stores.values():
        if selected.any():
            source = "unmetered part of the response"
            key, is_selected = dotted("storage", store, "service"), selected.astype(np.float64)
            value = fit_law_value(key, wait_ns, is_selected, groupings, source)
            fitted.append(_value_of_median(value, measured_ns[selected] - wait_ns[selected]) if busy else value)
            tables += [(dotted("storage", store, "kind"), "server"), _unlimited_servers(store)]
    for name in command_names(rows):
        store = stores[name][0] if name in own_wait_names else "terminal"
        tables.append((dotted("commands", name, "requests", store), 1))
    assumed = "the unmetered part of a response is independent of the number of users"
    assumed += "; the median of each command is used, since the host was busy" if busy else ""
    dependent = dependence_words(dependences(rows, wait_ns), "the unmetered part of a response")
    return FittedValues(tuple(fitted), (assumed, *dependent, *_parallel_remarks(rows)), tuple(tables))


def _value_of_median(wait: FittedValue, residuals: Floats) -> FittedValue:
    """A wait that is the median of each command, as uncertain as a median of values that vary by `residuals`."""
    if wait.law.mean <= 0.0:
        return wait
    # The median of n normal values has the deviation 1.2533 σ/√n; the middle half of them is 1.349 σ wide.
    sigma = float(np.subtract(*np.quantile(residuals, (0.75, 0.25)))) / 1.349
    deviation = 1.2533 * sigma * len(residuals) ** -0.5 / wait.law.mean
    source = (
        f"median of the unmetered part of the response, in {counted(len(residuals), 'interaction')}: the host was busy"
    )
    return replace(wait, source=source, mean=None, spread=None, deviation=deviation)


def _parallel_remarks(rows: pl.DataFrame) -> list[str]:
    """A remark on the commands whose parts ran or waited in parallel, so that their sum exceeds the response time."""
    parts = pl.sum_horizontal("cpu", "ready", "paging", "io")
    sums = rows.group_by("command").agg(parts.sum().alias("parts"), pl.col("response").sum()).sort("command")
    parallel = [
        f"{as_code(name)} ({f'{parts / response:.2f} times' if response else 'which has no response time'})"
        for name, parts, response in sums.rows()
        if parts > _PARALLEL_RATIO * response
    ]
    if not parallel:
        return []
    return [
        f"work and waits that overlapped are sequential on the machine; their sum to the response: {in_words(parallel)}"
    ]


def _unmetered_wait(rows: pl.DataFrame, interrupt_ns: float) -> Floats:
    parts = [rows[name].fill_null(0.0).to_numpy() for name in ("cpu", "ready", "paging", "io")]
    wait_ns: Floats = np.maximum(rows["response"].to_numpy() - sum(parts) - interrupt_ns, 0.0)
    return wait_ns


def _has_own_wait(wait_ns: Floats, response: Floats) -> bool:
    return bool(wait_ns.mean() >= max(_OWN_WAIT_NS, _OWN_WAIT_SHARE * response.mean()))
