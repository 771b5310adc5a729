"""Which trial comes next in the search for the capacity, and when the answer is sure enough.

Short trials first, long ones only near the answer (as MLRsearch, IETF draft bmwg-mlrsearch, does for packet
rates; here the share of slow interactions is what the share of lost packets is there). One user is tried first; the
time that an interaction takes of the busiest resource says how far up to look next. Once a number of users misses a
target surely, a line through all trials near the crossing tells where it is (`crossing`), and trials go on at
either side of it, each longer than the last, until the interval of the answer is as narrow as was asked for. Where a
curve jumps and no line fits, the numbers in between are halved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from loadgo.sizing.crossing import Crossing, Excess, crossing_of, excess_of
from loadgo.sizing.curve import Standing
from loadgo.sizing.outcomes import EveryNumber, Found, NoNumber, Outcome, Step, Untold, Wanted
from loadgo.sizing.trials import Tally, Trial

PILOT = 60
"""Interactions of the first trial, with one user; far fewer than the shortest of others tell enough of it."""
WIDE, NEAREST = 0.2, 3.0
"""Trials within this part of the crossing, or so many users, are on its line."""
STEADY, NEAR = 6.0, 0.1
"""And those alone, once there are enough, within so many times half the crossing's interval, or this part of it."""
STRAIGHT = 3.0
"""Trials whose excess is beyond this are on no straight line with the others."""
FEW = 3
"""So many numbers of users between what is surely met and surely missed are tried before any is tried longer."""
APART = 0.08
"""Trials lie at most so far at either side of the crossing."""
CLEAR = 0.5
"""Further below its limit than this, on its scale, a target leaves room for a leap although it is not sure yet."""
FIRST = 8
"""On a host, where interactions take their time, this part of the most users are the first."""
NARROW = 0.42
"""Half the crossing's interval is so narrow a part of the answer's ends: of a wide one, both may be near by luck."""
SHOWN = 0.1
"""At the answer itself so large a part is seen of what the line near it is from: it is tried, and not only computed."""
LEAP = 3
"""On a host that others may be using, so many times more users than were tried before are tried at most."""


_NEAR_LIMIT = "the limit of users is too near the answer: allow more with --max-users"
_TOO_SHORT = "the longest trials do not tell: allow longer ones with --longest"


@dataclass(frozen=True)
class _Bracket:
    """The most users that surely meet all ceilings below the fewest that surely miss one; 0 and None: not seen."""

    met: int
    missed: int | None
    binding: int
    """The place of a target that is missed there."""


def next_step(trials: Sequence[Trial], wanted: Wanted) -> Step | Outcome:
    """What to do after `trials`: another one, or the answer."""
    if not trials:
        return Step(max(1, wanted.max_users // FIRST) if wanted.live else 1, min(PILOT, wanted.shortest))
    bracket = _bracket(trials, wanted)
    if len(trials) >= wanted.most_trials:
        return _out_of_trials(trials, wanted, bracket)
    if bracket.missed == 1:
        return NoNumber(bracket.binding)
    if bracket.missed is None:
        return _upwards(trials, wanted, bracket)
    return _inwards(trials, wanted, bracket)


def standing(users: int, trials: Iterable[Trial], wanted: Wanted) -> Standing:
    """How the ceilings stand with so many users, all their trials together: missed when one of them is."""
    mine = [trial for trial in trials if trial.users == users]
    if any(trial.refused for trial in mine):
        return "missed"
    excesses = [_excess(place, mine, wanted) for place in wanted.ceilings]
    if any(one is not None and one.missed for one in excesses):
        return "missed"
    return "met" if all(one is not None and one.met for one in excesses) else "open"


def crossing_near(trials: Sequence[Trial], wanted: Wanted, around: float) -> tuple[Crossing, int] | None:
    """The first of the ceilings' crossings, from the trials near `around`; its interval is that of the first of all.

    From the trials in a wide surrounding first, whose line has a sure slope; then from those so near that no curve
    matters beside what is still in doubt. Where fewer trials seem to tell more, that is luck, and the wide line stands.
    """
    wide = _crossing_within(trials, wanted, around, max(NEAREST, WIDE * around))
    if wide is None:
        return None
    reach = min(max(STEADY * _half(wide[0]), NEAR * wide[0].users), WIDE * wide[0].users)
    near = _crossing_within(trials, wanted, wide[0].users, max(NEAREST, reach))
    return near if near is not None and _half(near[0]) >= _half(wide[0]) else wide


def _crossing_within(
    trials: Sequence[Trial], wanted: Wanted, around: float, reach: float
) -> tuple[Crossing, int] | None:
    near = [trial for trial in trials if abs(trial.users - around) <= reach]
    found = []
    for place in wanted.ceilings:
        straight = [trial for trial in near if _straight(place, trial, wanted)]
        line = crossing_of(wanted.targets[place], [one.users for one in straight], _tallies(place, straight))
        if line is not None:
            found.append((line, place))
    if not found:
        return None
    first, binding = min(found, key=lambda one: one[0].users)
    low, high = min(one.low for one, _ in found), min(one.high for one, _ in found)
    return Crossing(first.users, low, high, first.slope, first.weight), binding


def _half(crossing: Crossing) -> float:
    return (crossing.high - crossing.low) / 2


def _excess(place: int, trials: Sequence[Trial], wanted: Wanted) -> Excess | None:
    return excess_of(wanted.targets[place], _tallies(place, trials))


def _seen(place: int, users: int, trials: Sequence[Trial], wanted: Wanted) -> float:
    """The excess with so many users, as it was seen: of few interactions none of which was slow, there is none."""
    mine = [trial for trial in trials if trial.users == users]
    if not any(trial.tallies[place].numerators.any() for trial in mine):
        return -math.inf
    excess = _excess(place, mine, wanted)
    return 0.0 if excess is None else excess.value


def _tallies(place: int, trials: Iterable[Trial]) -> list[Tally]:
    return [trial.tallies[place] for trial in trials]


def _straight(place: int, trial: Trial, wanted: Wanted) -> bool:
    excess = _excess(place, [trial], wanted)
    return excess is not None and abs(excess.value) <= STRAIGHT and not trial.refused


def _bracket(trials: Sequence[Trial], wanted: Wanted) -> _Bracket:
    tried = sorted({trial.users for trial in trials})
    stands = {users: standing(users, trials, wanted) for users in tried}
    missed = min((users for users in tried if stands[users] == "missed"), default=None)
    met = max((users for users in tried if stands[users] == "met" and (missed is None or users < missed)), default=0)
    return _Bracket(met, missed, _worst(missed or max(tried), trials, wanted))


def _worst(users: int, trials: Sequence[Trial], wanted: Wanted) -> int:
    """The place of the ceiling that is furthest beyond its limit, or nearest to it."""
    mine = [trial for trial in trials if trial.users == users]
    values = {place: excess.value for place in wanted.ceilings if (excess := _excess(place, mine, wanted))}
    return max(values, key=lambda place: values[place]) if values else wanted.ceilings[0]


def _longer(users: int, trials: Sequence[Trial], wanted: Wanted, otherwise: Outcome) -> Step | Outcome:
    """Another trial with as many users, as long as all before; or the outcome when that is beyond the longest."""
    done = sum(trial.counted for trial in trials if trial.users == users)
    return Step(users, max(done, wanted.shortest)) if done < wanted.most_interactions else otherwise


def _upwards(trials: Sequence[Trial], wanted: Wanted, bracket: _Bracket) -> Step | Outcome:
    """No number of users has missed a target yet."""
    top = max(trial.users for trial in trials)
    if top >= wanted.max_users:
        if bracket.met == top:
            return EveryNumber(top)
        return _longer(top, trials, wanted, Untold(bracket.met, None, _NEAR_LIMIT))
    nearest = max((_seen(place, top, trials, wanted) for place in wanted.ceilings), default=0.0)
    if bracket.met < top and top == 1 and nearest > 0:
        return _longer(1, trials, wanted, Untold(0, None, "one user alone is too near the limit to tell"))
    if bracket.met < top and nearest > -CLEAR:
        return Step(min(wanted.max_users, max(top + 1, math.ceil(1.1 * top))), wanted.shortest)
    guess = _guess(trials, wanted)
    further = max(2 * top, math.ceil(guess)) if guess > 1.1 * top else math.ceil(1.25 * top)
    if wanted.live:
        further = min(further, LEAP * top, max(math.ceil(0.8 * guess), math.ceil(1.25 * top)))
    return Step(min(wanted.max_users, max(top + 1, further)), wanted.shortest)


def _guess(trials: Sequence[Trial], wanted: Wanted) -> float:
    """About how many users reach a limit, from the asymptotes at the most users tried; infinite: no resource tells it.

    A resource that is busy for a share U with N users is full with N / U; beyond that the response grows so that
    users come round, (R + Z) N_full / (R_light + Z) = N.
    """
    trial = max(trials, key=lambda one: (one.users, one.counted))
    busy = max(trial.utilisation.values(), default=0.0)
    if busy <= 0:
        return math.inf
    knee, cycle = trial.users / min(busy, 1.0), trial.think_s + (trial.response_s or 0.0)
    guesses = [2.0 * knee]
    for place in wanted.ceilings:
        target = wanted.targets[place]
        if target.measure == "busy":
            guesses.append(trial.users * target.limit / max(trial.utilisation.get(str(target.command), 0.0), 1e-6))
        elif (target.share is not None or target.measure == "mean") and target.command is None:
            mean = target.limit / (math.log(1 / target.share) if target.share else 1.0)
            guesses.append(knee * max((mean + trial.think_s) / cycle, 0.5))
    return min(guesses)


def _inwards(trials: Sequence[Trial], wanted: Wanted, bracket: _Bracket) -> Step | Outcome:
    """A number of users has missed a target: the answer is below it."""
    found = _crossing(trials, wanted, bracket)
    if found is None:
        return _halved(trials, wanted, bracket, _between(trials, wanted, bracket))
    crossing, binding = found
    answer = _answer(crossing, binding, wanted)
    if not answer.enough or not _surrounded(trials, crossing.users):
        return Step(_beside(trials, wanted, crossing), _length(trials, wanted, crossing))
    there = sum(trial.counted for trial in trials if trial.users == answer.users)
    if there < SHOWN * crossing.weight and answer.users:
        return Step(answer.users, max(wanted.shortest, math.ceil(SHOWN * crossing.weight)))
    if not _was_enough(trials[:-1], wanted):
        return Step(_beside(trials, wanted, crossing), _length(trials, wanted, crossing))
    return answer


def _crossing(trials: Sequence[Trial], wanted: Wanted, bracket: _Bracket) -> tuple[Crossing, int] | None:
    """The crossing and what decides it, from the trials near where it turns out to be."""
    around, best = _between(trials, wanted, bracket), None
    for _ in range(3):
        found = crossing_near(trials, wanted, around)
        if found is None:
            break
        best = found
        around = min(max(found[0].users, 1.0), float(wanted.max_users))
    return best


def _was_enough(trials: Sequence[Trial], wanted: Wanted) -> bool:
    """Whether one trial earlier it was enough already: who stops at the first look that pleases stops at lucky ones."""
    bracket = _bracket(trials, wanted)
    found = _crossing(trials, wanted, bracket) if bracket.missed is not None else None
    return found is not None and _answer(*found, wanted).enough


def _between(trials: Sequence[Trial], wanted: Wanted, bracket: _Bracket) -> float:
    """Where the excess would be 0 on a line between the two ends of the bracket, not too near either."""
    low, high = bracket.met, bracket.missed or wanted.max_users
    below = _excess(bracket.binding, [trial for trial in trials if trial.users == low], wanted)
    above = _excess(bracket.binding, [trial for trial in trials if trial.users == high], wanted)
    share = 0.5
    if below is not None and above is not None and math.isfinite(below.value) and above.value > below.value:
        share = -below.value / (above.value - below.value)
    return low + min(max(share, 0.2), 0.8) * (high - low)


def _halved(trials: Sequence[Trial], wanted: Wanted, bracket: _Bracket, around: float) -> Step | Outcome:
    """No line tells the crossing: a number in between, or the bracket itself when there is none."""
    assert bracket.missed is not None
    if bracket.missed - bracket.met == 1:
        return _adjacent(trials, wanted, bracket)
    tried = {trial.users for trial in trials}
    inside = [users for users in range(bracket.met + 1, bracket.missed) if users not in tried]
    between = sorted(users for users in tried if bracket.met < users < bracket.missed)
    if inside and len(between) < FEW:
        apart = max(1.0, APART * around) * (1 if len(between) % 2 else -1) if between else 0.0
        return Step(min(inside, key=lambda users: abs(users - around - apart)), wanted.shortest)
    untold = Untold(bracket.met, bracket.missed - 1, _TOO_SHORT)
    if not between:
        return untold
    least = min(between, key=lambda users: sum(trial.counted for trial in trials if trial.users == users))
    return _longer(least, trials, wanted, untold)


def _adjacent(trials: Sequence[Trial], wanted: Wanted, bracket: _Bracket) -> Step | Outcome:
    """A number that surely meets the targets, and the next that surely misses one.

    Where others near do not fit (fewer users that seemed to miss it, more that seemed to meet it), what is sure within
    a trial is not sure of the next, such as on a host with others on it: the answer is between these.
    """
    assert bracket.missed is not None
    told = {trial.users for trial in trials if not trial.refused}
    values = {users: _seen(bracket.binding, users, trials, wanted) for users in told}
    low = min([bracket.met, *(users - 1 for users, value in values.items() if value > 0)])
    high = max([bracket.met, *(users for users, value in values.items() if value < 0)])
    if high - low <= _within(bracket.met, wanted):
        return Found(bracket.met, low, high, bracket.binding, enough=True)
    near = [users for users in values if low <= users <= high + 1]
    least = min(near, key=lambda users: sum(trial.counted for trial in trials if trial.users == users))
    return _longer(least, trials, wanted, Found(bracket.met, low, high, bracket.binding, enough=False))


def _answer(crossing: Crossing, binding: int, wanted: Wanted) -> Found:
    users = max(math.floor(crossing.users), 0)
    low, high = max(math.floor(crossing.low), 0), min(math.floor(crossing.high), wanted.max_users)
    users = min(users, wanted.max_users)
    within = _within(users, wanted)
    enough = high - low <= within and _half(crossing) <= NARROW * (1 + within)
    return Found(users, min(low, users), max(high, users), binding, enough, crossing)


def _within(users: int, wanted: Wanted) -> int:
    return wanted.within if wanted.within is not None else max(1, round(0.02 * users))


def _surrounded(trials: Sequence[Trial], crossing: float) -> bool:
    """Whether there are trials near the crossing on either side of it."""
    near = [trial.users for trial in trials if abs(trial.users - crossing) <= max(NEAREST, WIDE * crossing)]
    return min(near, default=math.inf) <= crossing <= max(near, default=-math.inf)


def _beside(trials: Sequence[Trial], wanted: Wanted, crossing: Crossing) -> int:
    """A number of users on that side of the crossing on which fewer interactions were seen."""
    at = crossing.users
    apart = max(1.0, min(APART * at, _half(crossing)))
    near = [trial for trial in trials if abs(trial.users - at) <= max(NEAREST, WIDE * at)]
    below = sum(trial.counted for trial in near if trial.users <= at)
    above = sum(trial.counted for trial in near if trial.users > at)
    beside = math.floor(at - apart + 0.5) if below <= above else math.ceil(at + apart - 0.5)
    return min(max(beside, 1), wanted.max_users)


def _length(trials: Sequence[Trial], wanted: Wanted, crossing: Crossing) -> int:
    """As long as all that is known near the crossing, unless less is enough: intervals narrow with its square root."""
    aim = 0.9 * NARROW * (1 + _within(math.floor(crossing.users), wanted))
    lacking = crossing.weight * max((_half(crossing) / aim) ** 2 - 1, 0.1)
    return int(min(max(min(lacking, crossing.weight), wanted.shortest), wanted.most_interactions))


def _out_of_trials(trials: Sequence[Trial], wanted: Wanted, bracket: _Bracket) -> Outcome:
    """What can be said when no more trials may be made."""
    why = f"{len(trials)} trials were all that was allowed: allow more with --trials"
    if bracket.missed is not None:
        found = crossing_near(trials, wanted, _between(trials, wanted, bracket))
        if found is not None:
            return _answer(found[0], found[1], wanted)
        if bracket.missed - bracket.met == 1:
            return Found(bracket.met, bracket.met, bracket.met, bracket.binding, enough=False)
        return Untold(bracket.met, bracket.missed - 1, why)
    return Untold(bracket.met, None, why)
