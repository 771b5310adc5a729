"""Chains of meters that are identities: elapsed time, processor time, response and cost as what they are made of.

    elapsed  = work × overhead × idle ÷ processors
    CPU      = work × overhead of the busy time × (charged ÷ metered)
    response = programs + system + page faults + waits + the rest
    cost     = price × CPU, and what waiting costs

Work is the time in the users' own programs, overhead all time in which the processors were wanted over it, idle all
time over that. A part of the overhead that is counted is how many for each second of work, times how long each. What
no meter tells is a factor or a part of its own. This is bookkeeping: it says what the meters moved by, not what would
have happened without a change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loadgo.decomposition.parts import draws_of, each_of
from loadgo.measures.account import Account
from loadgo.measures.total_time import is_busy
from loadgo.stats.factors import Link, Share, meter, product, taken_apart, total
from loadgo.stats.resample import Floats, Interval, interval_of

WORK = ("user", "nice")
"""The time of the users' own programs."""
NOBODY = ("idle zero", "idle")
"""Idle because nobody wants the processor; on a host that does not tell idle time by cause, all of it."""


@dataclass(frozen=True)
class Factor:
    """What one meter is of the whole ratio."""

    name: str
    of: str
    """The part that it is a factor within; empty for a link of the chain."""
    factor: float
    """Above 1: less is used after than before."""
    interval: Interval | None
    log: float
    said: str


@dataclass(frozen=True)
class Whole:
    """A ratio that factors multiply to."""

    measure: str
    unit: str
    """`ns`, or `$` for any currency."""
    before: float
    after: float
    ratio: float
    """`before / after`."""
    interval: Interval | None


@dataclass(frozen=True)
class Chain(Whole):
    """A ratio and its factors, which multiply to it."""

    links: tuple[Factor, ...]
    """The chain's own factors, those of a link that is a sum together."""
    factors: tuple[Factor, ...]
    """All of them, down to the meters."""


@dataclass(frozen=True)
class _Sides:
    """Both sides' accounts with their draws."""

    a: Sequence[Account]
    b: Sequence[Account]
    weights: tuple[Floats, Floats]

    def each(self, figure: Callable[[Account], float]) -> tuple[Floats, Floats]:
        """A figure for each interaction, before and after."""
        return each_of(self.a, figure, self.weights[0]), each_of(self.b, figure, self.weights[1])

    def all(self, known: Callable[[Account], bool]) -> bool:
        """Whether it is known of every account."""
        return all(known(account) for account in (*self.a, *self.b))

    def names(self, of: Callable[[Account], Mapping[str, float]]) -> list[str]:
        """The names in these mappings, each once."""
        return list(dict.fromkeys(name for account in (*self.a, *self.b) for name in of(account)))


def chains(a: Sequence[Account], b: Sequence[Account], *, paired: bool) -> tuple[tuple[Chain, ...], tuple[str, ...]]:
    """The chains that both sides' meters allow, and why not the others."""
    if not a or not b:
        return (), ("Nothing can be taken apart by meters: total time was not measured on both sides.",)
    sides = _Sides(a, b, draws_of(a, b, paired=paired))
    found, lacking = [], []
    for measure, unit, build in (
        ("elapsed", "ns", _elapsed),
        ("CPU", "ns", _cpu),
        ("response", "ns", _response),
    ):
        try:
            found.append(_chain(measure, unit, build(sides), min(len(a), len(b))))
        except ValueError as reason:
            lacking.append(f"{measure} is not taken apart: {reason}.")
    for tariff in sides.names(lambda account: account.charges):
        try:
            found.append(_chain(f"cost, {tariff}", "$", _cost(sides, tariff), min(len(a), len(b))))
        except ValueError as reason:
            lacking.append(f"the cost ({tariff}) is not taken apart: {reason}.")
    return tuple(found), tuple(lacking)


def _chain(measure: str, unit: str, whole: Link, runs: int) -> Chain:
    shares = taken_apart(whole)
    logs: dict[str, Floats] = {}
    for share in shares:
        top = _top(whole, share)
        logs[top] = logs.get(top, np.zeros_like(share.log)) + share.log
    said = {part.name: part.said for part in whole.parts}
    ratio = whole.before / whole.after
    return Chain(
        measure=measure,
        unit=unit,
        before=float(whole.before[0]),
        after=float(whole.after[0]),
        ratio=float(ratio[0]),
        interval=_exp(interval_of(np.log(ratio), runs)),
        links=tuple(_factor(name, "", log, runs, said.get(name, "")) for name, log in logs.items()),
        factors=tuple(_factor(one.name, one.of, one.log, runs, one.said) for one in shares if np.any(one.log != 0)),
    )


def _top(whole: Link, share: Share) -> str:
    """The link of the chain that a meter is in."""

    def holds(link: Link) -> bool:
        return (link.kind == "meter" and link.name == share.name) or any(map(holds, link.parts))

    return next(part.name for part in whole.parts if holds(part))


def _factor(name: str, of: str, log: Floats, runs: int, said: str) -> Factor:
    return Factor(name, of, float(np.exp(log[0])), _exp(interval_of(log, runs)), float(log[0]), said)


def _exp(interval: Interval | None) -> Interval | None:
    return None if interval is None else Interval(float(np.exp(interval.low)), float(np.exp(interval.high)))


def _work(account: Account) -> float:
    return sum(account.time_ns.get(name, 0.0) for name in WORK)


def _nobody(account: Account) -> float:
    return sum(account.time_ns.get(name, 0.0) for name in NOBODY)


def _whole(account: Account) -> float:
    return account.elapsed_ns * (account.processors or 1.0)


def _work_link(sides: _Sides) -> Link:
    if not sides.all(lambda account: _work(account) > 0):
        raise ValueError("the time of the users' own programs is not known on both sides")
    return meter("work", *sides.each(_work), "processor time of the users' own programs")


def _overhead(sides: _Sides, counts: Callable[[str], bool], rest: Callable[[Account], float]) -> Link:
    """The sum of what there is for each second of work: the work itself, 1, and each category that `counts`."""
    work = sides.each(_work)
    parts = [meter("the work itself", np.ones_like(work[0]), np.ones_like(work[1]))]
    for name in sides.names(lambda account: account.time_ns):
        if name in WORK or not counts(name):
            continue
        time = sides.each(lambda account, name=name: account.time_ns.get(name, 0.0))  # type: ignore[misc]
        shares = time[0] / work[0], time[1] / work[1]
        parts.append(_counted(sides, name, shares, work))
    left = sides.each(rest)
    if any(np.any(np.abs(side) > 1e-9 * own) for side, own in zip(left, work, strict=True)):
        parts.append(meter("not metered", left[0] / work[0], left[1] / work[1], "rounding, and what no category has"))
    return total("overhead", tuple(parts), "what the processors do beside the work, for each second of it")


def _counted(sides: _Sides, name: str, shares: tuple[Floats, Floats], work: tuple[Floats, Floats]) -> Link:
    """A category as number times time of one, where both sides counted it."""
    if not sides.all(lambda account: account.counts.get(name, 0.0) > 0 and account.time_ns.get(name, 0.0) > 0):
        return meter(name, *shares)
    count = sides.each(lambda account: account.counts[name])
    number = count[0] / work[0], count[1] / work[1]
    each = shares[0] / number[0], shares[1] / number[1]
    return product(
        name,
        (meter(f"{name}: how many", *number, "for each second of work"), meter(f"{name}: how long each", *each)),
    )


def _elapsed(sides: _Sides) -> Link:
    """work × overhead × idle ÷ processors, for each interaction."""
    work = _work_link(sides)

    def rest(account: Account) -> float:
        return _whole(account) - sum(account.time_ns.values())

    overhead = _overhead(sides, lambda name: name not in NOBODY, rest)
    wanted = work.before * overhead.before, work.after * overhead.after
    whole = sides.each(_whole)
    links = [work, overhead, meter("idle", whole[0] / wanted[0], whole[1] / wanted[1], "time that nobody wanted")]
    processors = [np.mean([account.processors or 1.0 for account in side]) for side in (sides.a, sides.b)]
    if processors[0] != processors[1]:
        ones = np.ones_like(whole[0]), np.ones_like(whole[1])
        links.append(meter("processors", ones[0] / processors[0], ones[1] / processors[1], "how many there are"))
    return product("elapsed", tuple(links))


def _cpu(sides: _Sides) -> Link:
    """work × overhead of the busy time × charged ÷ metered, for each interaction."""
    if not sides.all(lambda account: bool(account.cpu_ns)):
        raise ValueError("the interactions' processor time is not known on both sides")
    work = _work_link(sides)
    overhead = _overhead(sides, is_busy, lambda account: 0.0)
    charged = sides.each(lambda account: account.cpu_ns or 0.0)
    ratio = charged[0] / (work.before * overhead.before), charged[1] / (work.after * overhead.after)
    said = "processor time charged to interactions over the busy time by the meters"
    return product("CPU", (work, overhead, meter("charged ÷ metered", *ratio, said)))


def _response(sides: _Sides) -> Link:
    """The sum of what an interaction waits for; what no meter tells is a part of its own."""
    if not sides.all(lambda account: account.used.get("response", 0.0) > 0):
        raise ValueError("response times are not known on both sides")
    names = [*_own(sides), "ready wait", "paging wait", "I/O wait"]
    names = [name for name in names if sides.all(lambda account, name=name: name in account.used)]  # type: ignore[misc]
    parts = [_waited_for(sides, name) for name in names]
    if "programs" in names:
        parts.insert(1, _for_programs(sides, names))
        names = [*(name for name in names if name not in ("programs", "page")), "cpu"]
    rest = sides.each(lambda account: account.used["response"] - sum(account.used[name] for name in names))
    parts.append(meter("not metered", *rest, "what of the response no meter tells"))
    return total("response", tuple(parts))


def _own(sides: _Sides) -> list[str]:
    """An interaction's own processor time: programs, system and page faults apart, where these are known."""
    if sides.all(lambda account: {"programs", "cpu"} <= account.used.keys()):
        return ["programs", "page"]
    return ["work", "page"] if sides.all(lambda account: "page" in account.used) else ["cpu"]


def _for_programs(sides: _Sides, names: Sequence[str]) -> Link:
    """What the system did for the programs, without page faults where these are a part of their own."""
    apart = [name for name in ("programs", "page") if name in names]
    left = sides.each(lambda account: account.used["cpu"] - sum(account.used[name] for name in apart))
    return meter("system", *left, "processor time of the system on their behalf, beside page faults that are timed")


def _waited_for(sides: _Sides, name: str) -> Link:
    """One part of the response: page faults and waits for pages as how many and how long each, where both are known."""
    label = {"work": "work and the rest of the system", "page": "page faults", "cpu": "processor time"}.get(name, name)
    values = sides.each(lambda account: account.used[name])
    counted = {"page": "faults", "paging wait": "major faults"}.get(name, "")
    known = sides.all(lambda account: account.used.get(name, 0.0) > 0 and account.used.get(counted, 0.0) > 0)
    if not counted or not known:
        return meter(label, *values)
    count = sides.each(lambda account: account.used[counted])
    each = values[0] / count[0], values[1] / count[1]
    said = {"page": "page faults", "paging wait": "page faults that had to wait for their page"}[name]
    number = meter(f"{label}: how many", *count, said)
    return product(label, (number, meter(f"{label}: how long each", *each)))


def _cost(sides: _Sides, tariff: str) -> Link:
    """price × CPU, and what waiting costs, for each interaction."""
    if not sides.all(lambda account: account.charges.get(tariff, 0.0) > 0 and bool(account.cpu_ns)):
        raise ValueError("it is not known on both sides")
    cpu = _cpu(sides)

    def of_processor(account: Account) -> float:
        return account.charges[tariff] - account.wait_charges.get(tariff, 0.0)

    charge = sides.each(of_processor)
    price = meter("price", charge[0] / cpu.before, charge[1] / cpu.after, "of a second of processor time")
    waits = sides.each(lambda account: account.wait_charges.get(tariff, 0.0))
    if not np.any(waits[0]) and not np.any(waits[1]):
        return product("cost", (price, *cpu.parts))
    return total("cost", (product("processor", (price, meter("CPU", cpu.before, cpu.after))), meter("waiting", *waits)))
