"""The answer of transfers in words: what a gigabyte costs, and the cheapest method where the rounds tell it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from loadgo.notation.figures import capitalized, in_words, money
from loadgo.transfers.prices import Amounts, Prices
from loadgo.transfers.remedies import ratio_of_rounds
from loadgo.transfers.rounds import by_method_and_end, median_rows
from loadgo.transfers.row import BITS_PER_GIGABYTE, Row

_VERBS = {"s": "sending", "r": "receiving"}


def answer_sentence(rows: Sequence[Row], prices: Prices) -> str:
    """The cost of processor time for a gigabyte in each direction, which is not the network's price.

    A method is called cheapest only if its rounds show it.
    """
    complete = [row for row in rows if not row.broke_off and row.bits]
    if not complete:
        if rows and not any(row.broke_off for row in rows):
            return "There was nothing to move, and all of it came over."
        return "Nothing came over whole." if rows else "There was no transfer."
    amounts = prices.amounts(median_rows(rows))
    phrases, open_verbs = [], open_directions(rows)
    for direction, verb in _VERBS.items():
        methods = _by_cost([row for row in complete if row.direction == direction])
        if methods:
            costs = [_cost(group, prices, amounts) for group in methods]
            opening = f"{verb} {amounts.of('gigabyte')} costs"
            phrases.append(_phrase(opening, methods, costs, is_sure=verb not in open_verbs))
    sentence = f"{capitalized('; '.join(phrases))}: processor time {prices.in_words()}.{prices.of_network(amounts)}"
    return sentence + (_doubt(complete, open_verbs) if open_verbs else "")


def open_directions(rows: Sequence[Row]) -> list[str]:
    """The directions in words, of `sending` and `receiving`, in which the rounds do not tell the cheapest method."""
    complete = [row for row in rows if not row.broke_off and row.bits]
    groups = {verb: _by_cost([row for row in complete if row.direction == one]) for one, verb in _VERBS.items()}
    return [verb for verb, methods in groups.items() if len(methods) > 1 and not _is_cheapest(methods[0], methods[1:])]


def _by_cost(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each method and side, round by round, the one with the cheapest median row first, as in the table."""
    return sorted(by_method_and_end(rows).values(), key=lambda group: median_rows(group)[0].cpu_s_per_bit or 0.0)


def _logs(rows: Sequence[Row]) -> list[float]:
    return [math.log(row.cpu_s_per_bit) if row.cpu_s_per_bit else -math.inf for row in rows]


def _is_cheapest(first: Sequence[Row], others: Sequence[Sequence[Row]]) -> bool:
    """Whether the interval of each other method's cost, over that of the first, lies above 1."""
    ratios = [ratio_of_rounds(_logs(other), _logs(first)) for other in others]
    return all(ratio is not None and ratio.interval is not None and ratio.interval.low > 1 for ratio in ratios)


def _phrase(opening: str, methods: Sequence[Sequence[Row]], costs: Sequence[str], *, is_sure: bool) -> str:
    names = [group[0].method for group in methods]
    if len(methods) == 1:
        return f"{opening} {costs[0]} ({names[0]})"
    if is_sure:
        return f"{opening} {costs[0]} with {names[0]}, the cheapest, and {costs[-1]} with {names[-1]}"
    return f"{opening} {costs[0]} ({names[0]}) to {costs[-1]} ({names[-1]})"


def _cost(group: Sequence[Row], prices: Prices, amounts: Amounts) -> str:
    (median,) = median_rows(group)
    return money(prices.host(median, BITS_PER_GIGABYTE), prices.currency, amounts.count("gigabyte"))


def _doubt(rows: Sequence[Row], open_verbs: Sequence[str]) -> str:
    """The sentence that no method is surely cheapest in these directions."""
    rounds = max(len(group) for group in by_method_and_end(rows).values())
    directions = in_words(list(open_verbs))
    if rounds == 1:
        return f" One round does not tell which method is cheapest for {directions}: `--times 5` may."
    return f" Which method is cheapest for {directions} cannot be told from {rounds} rounds."
