"""The answer of a search in words: the number of users, the target that decides it, and what remains uncertain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from loadgo.notation.figures import as_code, capitalized, counted, money, number, people, seconds, share
from loadgo.sizing.curve import LoadPoint, Target, TargetVerdict
from loadgo.sizing.report.limiting import limiting_resource
from loadgo.sizing.search.fit_doubt import FitDoubt
from loadgo.sizing.search.narrowing import Narrowing
from loadgo.sizing.search.neighbours import neighbours_in_words
from loadgo.sizing.search.outcomes import (
    LONGEST_TRIALS_REASON,
    CapacityFound,
    EveryNumberMeets,
    NoNumberMeets,
    SearchGoal,
    SearchOutcome,
    Undecided,
)
from loadgo.sizing.search.results import Neighbours, Saturation, SearchEnd
from loadgo.stats.student import INTERVAL_CONFIDENCE


@dataclass(frozen=True)
class CapacityAnswer:
    """The answer of a search."""

    end: SearchEnd
    users: int | None
    interval: tuple[int, int | None] | None
    binding: Target | None
    headline: str
    """The answer in words."""
    confidence: float = INTERVAL_CONFIDENCE
    """The confidence of the interval; 0 where its ends are only the side on which the measured figures lie."""
    explanation: str = ""
    """Sentences on what decides the answer and what remains uncertain; may be empty."""
    has_cost: bool = False
    """Whether the headline names the cost of a user's hour."""

    @property
    def in_words(self) -> str:
        """The headline, and the explanation in a line of its own."""
        return "\n".join(filter(None, (self.headline, self.explanation)))


@dataclass(frozen=True)
class AnswerContext:
    """Facts for the answer that neither the outcome nor the points have."""

    first: Saturation | None = None
    """The resource that is saturated first; None where no resource was measured."""
    refused: Mapping[int, int] = field(default_factory=dict)
    """Number of users who could not log in, by the number of users in the trial."""
    stopped: bool = False
    """Whether an interrupt ended the search."""
    neighbours: Neighbours | None = None
    narrowing: Narrowing | None = None
    invalid: tuple[str, ...] = ()
    """The reason of each invalid trial that the answer is based on; empty if a valid trial exists."""
    fit_doubt: FitDoubt | None = None
    """None where the machine was not fitted, or where the uncertainty of the fit is not known."""
    tariff: str = ""
    """The name of the tariff, if the caller chose one: the answer then says what a user's hour costs."""
    currency: str = ""
    is_fit_doubtful: bool = False
    """Whether the machine's fit has warnings: its answer may then be far off, whatever the interval says."""
    remedy: str = ""
    """A sentence on what would narrow the answer where more trials would not; else empty."""


DOUBTFUL_FIT_WORDS = "Predicted with a doubtful fit, so do not rely on it"
"""The beginning of the answer of a machine whose fit has warnings."""
MORE_LIKELY = "more likely than not"
"""The words in place of a confidence where the ends of an interval have none."""
_NO_CONTEXT = AnswerContext()


def answer_of(
    outcome: SearchOutcome, points: Sequence[LoadPoint], goal: SearchGoal, context: AnswerContext = _NO_CONTEXT
) -> CapacityAnswer:
    """The answer from the outcome and the points of a search, with sentences on what makes it less certain."""
    answer = _answer_by_outcome(outcome, points, goal, context)
    headline = answer.headline
    if context.is_fit_doubtful and headline:
        headline = f"{DOUBTFUL_FIT_WORDS}: {headline[0].lower()}{headline[1:]}"
    cost = _cost_in_words(answer.users, points, context)
    words = [answer.explanation, neighbours_in_words(context.neighbours)]
    if context.fit_doubt is not None and answer.interval is not None:
        doubt = context.fit_doubt
        words.append(doubt.grounds_in_words if answer.end == "found" else doubt.in_words)
        answer = replace(answer, interval=(doubt.low, doubt.high), confidence=doubt.confidence)
    words.append(context.remedy or (context.narrowing.in_words if context.narrowing is not None else ""))
    end: SearchEnd = "stopped" if context.stopped else answer.end
    explanation = " ".join(filter(None, words))
    headline = f"{headline} {cost}".strip()
    return replace(answer, end=end, headline=headline, explanation=explanation, has_cost=bool(cost))


def _cost_in_words(users: int | None, points: Sequence[LoadPoint], context: AnswerContext) -> str:
    """The cost of a user's hour at the answer, by the tariff that the caller chose; else empty."""
    near = min(
        (point for point in points if point.cost_user_hour is not None),
        key=lambda point: abs(point.users - (users or 0)),
        default=None,
    )
    if not context.tariff or not users or near is None:
        return ""
    cost = money(near.cost_user_hour, context.currency)
    where = "" if near.users == users else f", with {people(near.users)}"
    return f"A user's hour costs {cost}{where} (tariff {context.tariff})."


def _answer_by_outcome(
    outcome: SearchOutcome, points: Sequence[LoadPoint], goal: SearchGoal, context: AnswerContext
) -> CapacityAnswer:
    if isinstance(outcome, CapacityFound):
        turned_away = context.refused.get(outcome.users + 1)
        if turned_away:
            return _turned_away_answer(outcome, turned_away)
        return _found_answer(outcome, points, goal, context)
    if isinstance(outcome, EveryNumberMeets):
        floor = _missed_floor(outcome.users, points)
        if floor is not None:
            return CapacityAnswer("contradiction", None, None, floor.target, _floor_in_words(floor, outcome.users))
        return _every_number_answer(outcome.users, points, goal)
    if isinstance(outcome, NoNumberMeets):
        target, too_few = goal.targets[outcome.binding], goal.fewest_users - 1
        if refused := context.refused.get(goal.fewest_users):
            who = "a single user" if goal.fewest_users == 1 else f"{refused:,} of {goal.fewest_users:,} users"
            words = f"No number of users meets the targets: {who} could not log in.{_fewer_in_words(goal)}"
            return CapacityAnswer("no number", 0, (0, too_few), None, words)
        return CapacityAnswer("no number", 0, (0, too_few), target, _none_meets_in_words(target, points, goal))
    return _range_answer(outcome, points, goal, context)


def _every_number_answer(users: int, points: Sequence[LoadPoint], goal: SearchGoal) -> CapacityAnswer:
    """The answer where the limit of the search meets the targets. It is a number only if its trials were steady."""
    if doubt := _doubt_of_point(users, points):
        words = (
            f"At least {people(users)}, more likely than not: {doubt}. "
            f"{capitalized(_measured_in_words(users, points))}."
        )
        return CapacityAnswer("range", None, (users, None), None, words, 0.0)
    words = (
        f"{_met_in_words(users, points)} {_targets_in_words(goal.targets)}: {_measured_in_words(users, points)}. "
        f"The capacity is {people(users)} or more. To find it, allow more with --max-users."
    )
    return CapacityAnswer("every number", users, (users, None), None, words)


def _doubt_of_point(users: int, points: Sequence[LoadPoint]) -> str:
    """Why the trials with `users` users alone carry no confidence: they were not steady. Empty if they were.

    Numbers below that are open are named too: the largest one then has no support from them.
    """
    if all(point.steady for point in points if point.users == users):
        return ""
    is_open = [p.users for p in points if p.users < users and any(v.standing != "met" for v in p.verdicts)]
    left_open = f"; the trials with {people(*is_open)} do not decide" if is_open else ""
    return f"with {people(users)} the response times had not settled{left_open}"


def _met_in_words(users: int, points: Sequence[LoadPoint]) -> str:
    """The start of the sentence on a search that met its targets up to its limit: who met them."""
    if all(verdict.standing == "met" for point in points for verdict in point.verdicts):
        return f"All tried numbers of users, up to the limit of {users:,}, meet"
    # With fewer users a short trial may have left it open, which the line through all trials then decides.
    return f"{capitalized(people(users))}, the limit of the search, {'meets' if users == 1 else 'meet'}"


def _none_meets_in_words(target: Target, points: Sequence[LoadPoint], goal: SearchGoal) -> str:
    measured = _measured_in_words(goal.fewest_users, points)
    number_of_users = "number of users" if goal.fewest_users == 1 else f"number from {people(goal.fewest_users)} on"
    alone = _alone_in_words(target) if measured and goal.fewest_users == 1 else ""
    return (
        f"No {number_of_users} meets {target.text}{': ' if measured else ''}{measured}.{alone}{_fewer_in_words(goal)}"
    )


def _alone_in_words(target: Target) -> str:
    """A sentence on a time that one user alone does not meet, with the remedy; empty for any other measure."""
    if target.share is None and target.measure != "mean":
        return ""
    what = as_code(target.command) if target.command else "an interaction"
    return (
        f" One user waits for no other, so the target cannot be met here: set its limit above what {what} takes alone, "
        "or make what is typed faster."
    )


def _fewer_in_words(goal: SearchGoal) -> str:
    """A sentence on fewer users than several hosts can have; empty for one host."""
    if goal.fewest_users == 1:
        return ""
    return (
        f" Fewer than {people(goal.fewest_users)} cannot be tried on this list, since each host has a user: leave "
        "hosts out of it, or search one of them with --on ssh://HOST."
    )


def _range_answer(
    outcome: Undecided, points: Sequence[LoadPoint], goal: SearchGoal, context: AnswerContext
) -> CapacityAnswer:
    """The answer where the trials show a range of the capacity, or one end of it."""
    low, high = outcome.low, outcome.high
    end: SearchEnd = "range" if low else "open"
    reason = outcome.why
    if not low and high is None:
        if not points:
            return CapacityAnswer(end, None, None, None, f"The capacity is not known: {reason}.", 0.0)
        why = _contradiction_in_words(points) or "no trial clearly meets or misses the targets"
        words = f"Any number from 0 to the limit of {people(goal.max_users)} is possible: {why}, and {reason}."
        return CapacityAnswer(end, None, (0, None), None, words, 0.0)
    if context.invalid:
        shown = _ends_in_words(low, high)
        words = f"The capacity is not known. By the figures of trials that are not valid, it is {shown}."
    else:
        confidence = f"with {100 * outcome.confidence:.0f} % confidence" if outcome.confidence else MORE_LIKELY
        words = f"{capitalized(_ends_in_words(low, high))}, {confidence}: {reason}."
    # Where no number of users clearly meets the targets, the figures of the most that may do so are said.
    most_within = max((point.users for point in points if high is None or point.users <= high), default=0)
    for users in (low or most_within, None if high is None else high + 1):
        measured = _measured_in_words(users, points) if users else ""
        words += f" {capitalized(measured)}." if measured else ""
    is_less_sure = 0 < outcome.confidence < INTERVAL_CONFIDENCE
    table = f"The table judges with {100 * INTERVAL_CONFIDENCE:.0f} % confidence, and so leaves more undecided."
    return CapacityAnswer(end, None, (low, high), None, words, outcome.confidence, table if is_less_sure else "")


def _ends_in_words(low: int, high: int | None) -> str:
    if high is None:
        return f"at least {people(low)}"
    if not low:
        return f"at most {people(high)}, perhaps none" if high else "probably not even one user"
    return f"{low:,} to {people(high)}" if low < high else people(low)


def _contradiction_in_words(points: Sequence[LoadPoint]) -> str:
    """A clause about points that contradict each other: fewer users miss a target, more users meet it; else empty."""
    standings = [(point.users, {verdict.standing for verdict in point.verdicts}) for point in points]
    fewest_missed = min((users for users, standing in standings if "missed" in standing), default=math.inf)
    most_met = max((users for users, standing in standings if standing == {"met"}), default=0)
    if fewest_missed >= most_met:
        return ""
    return (
        f"the trials contradict each other (with {people(round(fewest_missed))} a target is missed, with "
        f"{people(most_met)} all are met)"
    )


def _unmet_floor(users: int, points: Sequence[LoadPoint]) -> TargetVerdict | None:
    """The first floor that is missed with `users` users, or else the first that is open; None if all are met."""
    verdicts = [verdict for point in points if point.users == users for verdict in point.verdicts]
    floors = [verdict for verdict in verdicts if verdict.target.sense == "least" and verdict.standing != "met"]
    return next((verdict for verdict in floors if verdict.standing == "missed"), next(iter(floors), None))


def _found_answer(
    outcome: CapacityFound, points: Sequence[LoadPoint], goal: SearchGoal, context: AnswerContext
) -> CapacityAnswer:
    target = goal.targets[outcome.binding]
    floor = _missed_floor(outcome.users, points)
    if floor is not None:
        words = (
            f"No number of users meets {_targets_in_words(goal.targets)}: with more than {outcome.users:,} "
            f"{target.text} is missed, and {_floor_in_words(floor, outcome.users)}"
        )
        return CapacityAnswer("contradiction", None, None, floor.target, words)
    users, low, high = outcome.users, outcome.low, outcome.high
    doubt = context.fit_doubt
    top = None if doubt is not None and doubt.high is None else high
    # Where the interval comes from the fit, its width has that reason.
    wide = _wide_reason(outcome) if doubt is None or not doubt.is_wider else ""
    if users < goal.fewest_users:
        words = _zero_in_words(top, target, points, goal)
        return CapacityAnswer("no number", 0, (0, high), target, words, explanation=wide)
    words = _capacity_in_words(outcome, top, target, points, is_fitted=doubt is not None)
    measured = _measured_in_words(users, points)
    words += f" {capitalized(measured)}." if measured else ""
    open_floor = _unmet_floor(users, points)
    if open_floor is not None:
        words += f" It is not known whether {people(users)} meet {open_floor.target.text}."
    explanation = " ".join(filter(None, (limiting_resource(users, points, context.first), wide)))
    return CapacityAnswer("found", users, (low, high), target, words, explanation=explanation)


def _zero_in_words(high: int | None, target: Target, points: Sequence[LoadPoint], goal: SearchGoal) -> str:
    """Sentences on a capacity below the fewest users, whose interval ends at `high`; None if this end is not known."""
    if high == goal.fewest_users - 1:
        return _none_meets_in_words(target, points, goal)
    ends = "is 0 users or more" if high is None else f"lies between 0 and {high:,}"
    who = "one user meets" if goal.fewest_users == 1 else f"{people(goal.fewest_users)} meet"
    words = f"Probably not even {who} {target.text}: the answer {ends}, with 95 % confidence."
    measured = _measured_in_words(goal.fewest_users, points)
    return words + (f" {capitalized(measured)}." if measured else "") + _fewer_in_words(goal)


def _wide_reason(outcome: CapacityFound) -> str:
    """The sentence with the reason of an interval that is wider than wanted; empty for one that is not."""
    return "" if outcome.enough else f"The interval is wider than wanted: {outcome.why or LONGEST_TRIALS_REASON}."


def _capacity_in_words(
    outcome: CapacityFound, high: int | None, target: Target, points: Sequence[LoadPoint], *, is_fitted: bool
) -> str:
    """The sentence on the capacity and its interval; `high` is None if the upper end is not known.

    The capacity is where the line through all near points crosses the limit. The point at the capacity alone may miss
    the target. Then the interval comes first, with the most users whose own trials meet the target.
    """
    users, low = outcome.users, outcome.low
    by_line = ", by the line through all trials" if outcome.crossing is not None and not is_fitted else ""
    capacity = f"{people(users)} {'meets' if users == 1 else 'meet'} {target.text}"
    if high is None:
        return f"Probably {capacity} ({low:,} or more, with 95 % confidence)."
    values = {point.users: _value_of(point, target) for point in points}
    if low < users and (values.get(users) or 0.0) > target.limit:
        met = max(
            (n for n, value in values.items() if n < users and value is not None and value <= target.limit), default=0
        )
        own_trials = f" The most that meet {target.text} in their own trials are {people(met)}." if met else ""
        return (
            f"{low:,} to {people(high)}, with 95 % confidence.{own_trials} The line through all trials reaches the "
            f"limit at {users:,}, although the trials with {users:,} alone miss it."
        )
    if low == high:
        return f"{people(users)}; with more, {target.text} is missed{'' if _is_met(users, points) else by_line}."
    probably = "" if low == users and _is_met(users, points) else "Probably "
    return f"{probably}{capacity} ({low:,} to {high:,}, with 95 % confidence){by_line}."


def _is_met(users: int, points: Sequence[LoadPoint]) -> bool:
    """Whether the point with `users` users surely meets all targets; also where there is none, so that none is open."""
    return all(verdict.standing == "met" for point in points if point.users == users for verdict in point.verdicts)


def _value_of(point: LoadPoint, target: Target) -> float | None:
    """The measured value of a target at a point; None if it is not known."""
    return next((verdict.value.value for verdict in point.verdicts if verdict.target == target and verdict.value), None)


def _turned_away_answer(outcome: CapacityFound, turned_away: int) -> CapacityAnswer:
    """The answer of a system that refuses log-ins before any target is missed."""
    users = outcome.users
    words = f"{people(users)}; with {users + 1:,}, {turned_away:,} could not log in. Fewer users meet the targets."
    return CapacityAnswer("found" if users else "no number", users, (users, users), None, words)


def _missed_floor(users: int, points: Sequence[LoadPoint]) -> TargetVerdict | None:
    floor = _unmet_floor(users, points)
    return floor if floor is not None and floor.standing == "missed" else None


def _floor_in_words(floor: TargetVerdict, users: int) -> str:
    measured = "too little" if floor.value is None else f"{number(floor.value.value)}/s"
    return f"with {people(users)} the throughput is {measured}, which misses {floor.target.text}."


def _targets_in_words(targets: Sequence[Target]) -> str:
    return " and ".join(target.text for target in targets)


def _measured_in_words(users: int, points: Sequence[LoadPoint]) -> str:
    """The measured figure of each target with `users` users, as a phrase; empty without a figure."""
    verdicts = [verdict for point in points if point.users == users for verdict in point.verdicts]
    count = next((point.interactions for point in points if point.users == users), 0)
    phrases = [_verdict_in_words(verdict, count) for verdict in verdicts if verdict.value or verdict.slow_share]
    return f"with {'one user' if users == 1 else people(users)} {', '.join(phrases)}" if phrases else ""


def _verdict_in_words(verdict: TargetVerdict, count: int) -> str:
    target = verdict.target
    command = f"({target.command})" if target.command and target.measure != "busy" else ""
    if verdict.value is None:
        slow = share(verdict.slow_share.value if verdict.slow_share else math.nan)
        lines = f"{as_code(target.command)} lines" if target.command else counted(count, "line")
        return f"{slow} of {lines} take longer than {seconds(target.limit)}"
    name = f"{target.command} busy" if target.measure == "busy" else f"{target.measure}{command}"
    shown, interval = format_measure(target, verdict.value.value), verdict.value.interval
    if interval is None:
        return f"{name} is {shown}"
    return f"{name} is {shown} ({format_measure(target, interval.low)} to {format_measure(target, interval.high)})"


def format_measure(target: Target, value: float) -> str:
    """Formats a value of a target's measure with its unit."""
    if target.measure in ("errors", "busy"):
        return share(value)
    return f"{number(value)}/s" if target.measure == "throughput" else seconds(value)
