"""Decomposition of elapsed time, processor time, response and cost into what the meters measured, as identities.

    elapsed  = work × overhead × idle ÷ processors
    CPU      = work × overhead of the busy time × (charged ÷ metered)
    response = programs + system + page faults + waits + what is not metered
    cost     = price × CPU, and the cost of waiting

Wanted time is all processor time without the idle time in which no task wanted a processor. Work is the time in the
users' own programs, overhead is wanted time divided by work, and idle is all time divided by wanted time. A part of the
overhead whose events are counted is their number for each second of work, times the mean time of an event. Time that no
meter measured is a factor or a part of its own. The decomposition says how the meters differ, not what would have
happened without a change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.decomposition.parts import per_interaction, run_weights
from loadgo.measures.account import RunAccount
from loadgo.measures.total_time import is_busy
from loadgo.stats.both_ways import FactorBothWays, RatioBothWays
from loadgo.stats.factors import Link, Share, decompose, exponential, exponential_interval, meter, product, total
from loadgo.stats.resample import Floats, Interval, interval_of

WORK_CATEGORIES = ("user", "nice")
"""Categories of the users' own programs."""
UNWANTED_IDLE_CATEGORIES = ("idle zero", "idle")
"""Categories of idle time in which no task wants a processor. A host without causes of idle time has only `idle`."""


@dataclass(frozen=True)
class Factor(FactorBothWays):
    """The factor of one meter in the whole ratio."""

    name: str
    of: str
    """The sum to which the meter contributes. Empty for a link of the chain."""
    factor: float
    """Above 1 if less is used after than before."""
    interval: Interval | None
    log: float
    said: str


@dataclass(frozen=True)
class RatioFactors(RatioBothWays):
    """A ratio, which is the product of factors."""

    measure: str
    unit: str
    """`ns`, or `$` for any currency."""
    before: float
    after: float
    ratio: float
    """`before / after`."""
    interval: Interval | None


@dataclass(frozen=True)
class Chain(RatioFactors):
    """A ratio and its factors by meter."""

    links: tuple[Factor, ...]
    """The chain's own factors. A link that is a sum has one factor for all its terms."""
    factors: tuple[Factor, ...]
    """All factors, down to the meters."""


@dataclass(frozen=True)
class _Sides:
    """The accounts of both sides, with the weights of their resamples."""

    a: Sequence[RunAccount]
    b: Sequence[RunAccount]
    weights: tuple[Floats, Floats]

    def per_interaction(self, figure: Callable[[RunAccount], float]) -> tuple[Floats, Floats]:
        """A figure for each interaction, before and after."""
        before = per_interaction(self.a, figure, self.weights[0])
        return before, per_interaction(self.b, figure, self.weights[1])

    def is_known_everywhere(self, is_known: Callable[[RunAccount], bool]) -> bool:
        """Whether `is_known` is true of every account."""
        return all(is_known(account) for account in (*self.a, *self.b))

    def names(self, mapping: Callable[[RunAccount], Mapping[str, float]]) -> list[str]:
        """The keys of a mapping of all accounts, each once."""
        return list(dict.fromkeys(name for account in (*self.a, *self.b) for name in mapping(account)))


def chains(
    a: Sequence[RunAccount], b: Sequence[RunAccount], *, paired: bool
) -> tuple[tuple[Chain, ...], tuple[str, ...]]:
    """Decomposes what the meters of both sides allow. Returns the chains, and sentences for those that are missing."""
    accounts = (*a, *b)
    has_parts = all(account.time_ns for account in accounts) or all("response" in one.used for one in accounts)
    if not a or not b or not has_parts:
        return (), ("Nothing can be taken apart by meters: total time was not measured on both sides.",)
    sides = _Sides(a, b, run_weights(a, b, paired=paired))
    decomposed, missing = [], []
    for measure, unit, build in (
        ("elapsed", "ns", _elapsed),
        ("CPU", "ns", _cpu),
        ("response", "ns", _response),
    ):
        try:
            decomposed.append(_chain(measure, unit, build(sides), min(len(a), len(b))))
        except ValueError as reason:
            missing.append(f"{measure} is not taken apart: {reason}.")
    for tariff in sides.names(lambda account: account.charges):
        try:
            decomposed.append(_chain(f"cost, {tariff}", a[0].currency, _cost(sides, tariff), min(len(a), len(b))))
        except ValueError as reason:
            missing.append(f"the cost ({tariff}) is not taken apart: {reason}.")
    return tuple(decomposed), tuple(missing)


def _chain(measure: str, unit: str, ratio_link: Link, runs: int) -> Chain:
    shares = decompose(ratio_link)
    logs: dict[str, Floats] = {}
    for share in shares:
        top = _top(ratio_link, share)
        logs[top] = logs.get(top, np.zeros_like(share.log)) + share.log
    descriptions = {part.name: part.description for part in ratio_link.parts}
    ratio = ratio_link.before / ratio_link.after
    return Chain(
        measure=measure,
        unit=unit,
        before=float(ratio_link.before[0]),
        after=float(ratio_link.after[0]),
        ratio=float(ratio[0]),
        interval=exponential_interval(interval_of(np.log(ratio), runs)),
        links=tuple(_factor(name, "", log, runs, descriptions.get(name, "")) for name, log in logs.items()),
        factors=tuple(
            _factor(share.name, share.of, share.log, runs, share.description)
            for share in shares
            if np.any(share.log != 0)
        ),
    )


def _top(chain_link: Link, share: Share) -> str:
    """The name of the chain's link that contains a meter."""

    def holds(link: Link) -> bool:
        return (link.kind == "meter" and link.name == share.name) or any(map(holds, link.parts))

    return next(part.name for part in chain_link.parts if holds(part))


def _factor(name: str, parent: str, log: Floats, runs: int, description: str) -> Factor:
    return Factor(
        name, parent, exponential(log[0]), exponential_interval(interval_of(log, runs)), float(log[0]), description
    )


def work_ns(account: RunAccount) -> float:
    """Processor time of the users' own programs."""
    return sum(account.time_ns.get(name, 0.0) for name in WORK_CATEGORIES)


def _all_time_ns(account: RunAccount) -> float:
    return (account.elapsed_ns or 0.0) * (account.processors or 1.0)


def _work_link(sides: _Sides) -> Link:
    if not sides.is_known_everywhere(lambda account: work_ns(account) > 0):
        raise ValueError("the time of the users' own programs is not known on both sides")
    return meter("work", *sides.per_interaction(work_ns), "processor time of the users' own programs")


def _overhead(sides: _Sides, is_overhead: Callable[[str], bool], unmetered_ns: Callable[[RunAccount], float]) -> Link:
    """The processors' time for each second of work: 1 for the work itself, and each category of the overhead."""
    work = sides.per_interaction(work_ns)
    parts = [meter("the work itself", np.ones_like(work[0]), np.ones_like(work[1]))]
    for name in sides.names(lambda account: account.time_ns):
        if name in WORK_CATEGORIES or not is_overhead(name):
            continue
        time = sides.per_interaction(lambda account, name=name: account.time_ns.get(name, 0.0))  # type: ignore[misc]
        shares = time[0] / work[0], time[1] / work[1]
        parts.append(_counted(sides, name, shares, work))
    unmetered = sides.per_interaction(unmetered_ns)
    if any(np.any(np.abs(time) > 1e-9 * side_work) for time, side_work in zip(unmetered, work, strict=True)):
        ratios = unmetered[0] / work[0], unmetered[1] / work[1]
        parts.append(meter("not metered", *ratios, "rounding, and time in no category"))
    return total("overhead", tuple(parts), "what the processors do beside the work, for each second of it")


def _counted(sides: _Sides, name: str, shares: tuple[Floats, Floats], work: tuple[Floats, Floats]) -> Link:
    """A category as a number times the time of one, if both sides counted it."""
    if not sides.is_known_everywhere(
        lambda account: account.counts.get(name, 0.0) > 0 and account.time_ns.get(name, 0.0) > 0
    ):
        return meter(name, *shares)
    count = sides.per_interaction(lambda account: account.counts[name])
    number = count[0] / work[0], count[1] / work[1]
    each_s = shares[0] / number[0], shares[1] / number[1]
    return product(
        name,
        (meter(f"{name}: how many", *number, "for each second of work"), meter(f"{name}: how long each", *each_s)),
    )


def _elapsed(sides: _Sides) -> Link:
    """work × overhead × idle ÷ processors, for each interaction."""
    if not sides.is_known_everywhere(lambda account: bool(account.elapsed_ns)):
        raise ValueError("it is not known on both sides")
    work = _work_link(sides)

    def unmetered_ns(account: RunAccount) -> float:
        return _all_time_ns(account) - sum(account.time_ns.values())

    overhead = _overhead(sides, lambda name: name not in UNWANTED_IDLE_CATEGORIES, unmetered_ns)
    wanted = work.before * overhead.before, work.after * overhead.after
    total_ns = sides.per_interaction(_all_time_ns)
    idle = meter("idle", total_ns[0] / wanted[0], total_ns[1] / wanted[1], "all time over the time that tasks wanted")
    links = [work, overhead, idle]
    processors = [np.mean([account.processors or 1.0 for account in side]) for side in (sides.a, sides.b)]
    if processors[0] != processors[1]:
        ones = np.ones_like(total_ns[0]), np.ones_like(total_ns[1])
        links.append(meter("processors", ones[0] / processors[0], ones[1] / processors[1], "their number"))
    return product("elapsed", tuple(links))


def _cpu(sides: _Sides) -> Link:
    """work × overhead of the busy time × charged ÷ metered, for each interaction."""
    if not sides.is_known_everywhere(lambda account: bool(account.cpu_ns)):
        raise ValueError("the interactions' processor time is not known on both sides")
    work = _work_link(sides)
    overhead = _overhead(sides, is_busy, lambda account: 0.0)
    charged = sides.per_interaction(lambda account: account.cpu_ns or 0.0)
    ratio = charged[0] / (work.before * overhead.before), charged[1] / (work.after * overhead.after)
    description = "processor time charged to interactions over the busy time by the meters"
    return product("CPU", (work, overhead, meter("charged ÷ metered", *ratio, description)))


def _response(sides: _Sides) -> Link:
    """The response time as a sum of processor time and waits. Time that no meter measured is a term of its own."""
    if not sides.is_known_everywhere(lambda account: account.used.get("response", 0.0) > 0):
        raise ValueError("response times are not known on both sides")
    names = [*_own_time_names(sides), "ready wait", "paging wait", "I/O wait"]
    names = [name for name in names if sides.is_known_everywhere(lambda account, name=name: name in account.used)]  # type: ignore[misc]
    parts = [_response_term(sides, name) for name in names]
    if "programs" in names:
        parts.insert(1, _system_term(sides, names))
        names = [*(name for name in names if name not in ("programs", "page")), "cpu"]
    unmetered = sides.per_interaction(
        lambda account: account.used["response"] - sum(account.used[name] for name in names)
    )
    parts.append(meter("not metered", *unmetered, "the part of the response that no meter measured"))
    return total("response", tuple(parts))


def _own_time_names(sides: _Sides) -> list[str]:
    """Names of an interaction's own processor time: programs, system and page faults separately, if these are known."""
    if sides.is_known_everywhere(lambda account: {"programs", "cpu"} <= account.used.keys()):
        return ["programs", "page"]
    return ["work", "page"] if sides.is_known_everywhere(lambda account: "page" in account.used) else ["cpu"]


def _system_term(sides: _Sides, names: Sequence[str]) -> Link:
    """The system's processor time for the programs, without page faults if these are a term of their own."""
    others = [name for name in ("programs", "page") if name in names]
    system = sides.per_interaction(lambda account: account.used["cpu"] - sum(account.used[name] for name in others))
    return meter("system", *system, "processor time of the system on their behalf, beside page faults that are timed")


def _response_term(sides: _Sides, name: str) -> Link:
    """One term of the response. Page faults and page waits are a number times the time of one, if both are known."""
    label = {"work": "work and the rest of the system", "page": "page faults", "cpu": "processor time"}.get(name, name)
    values = sides.per_interaction(lambda account: account.used[name])
    counted = {"page": "faults", "paging wait": "major faults"}.get(name, "")
    is_counted = sides.is_known_everywhere(
        lambda account: account.used.get(name, 0.0) > 0 and account.used.get(counted, 0.0) > 0
    )
    if not counted or not is_counted:
        return meter(label, *values)
    count = sides.per_interaction(lambda account: account.used[counted])
    each_ns = values[0] / count[0], values[1] / count[1]
    description = {"page": "page faults", "paging wait": "page faults that had to wait for their page"}[name]
    number = meter(f"{label}: how many", *count, description)
    return product(label, (number, meter(f"{label}: how long each", *each_ns)))


def _cost(sides: _Sides, tariff: str) -> Link:
    """price × CPU, and the cost of waiting, for each interaction."""
    if not sides.is_known_everywhere(lambda account: account.charges.get(tariff, 0.0) > 0 and bool(account.cpu_ns)):
        raise ValueError("it is not known on both sides")
    cpu = _cpu(sides)

    def processor_charge(account: RunAccount) -> float:
        return account.charges[tariff] - account.wait_charges.get(tariff, 0.0)

    charge = sides.per_interaction(processor_charge)
    price = meter("price", charge[0] / cpu.before, charge[1] / cpu.after, "of a second of processor time")
    waits = sides.per_interaction(lambda account: account.wait_charges.get(tariff, 0.0))
    if not np.any(waits[0]) and not np.any(waits[1]):
        return product("cost", (price, *cpu.parts))
    return total("cost", (product("processor", (price, meter("CPU", cpu.before, cpu.after))), meter("waiting", *waits)))
