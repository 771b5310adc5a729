"""Does a published document contradict itself? Everything that it says of its own numbers is worked out again.

A claim holds when its two sides can be equal within what the rounding of the printed digits hides. Where only cells
are added up, the digits must come out to the last. What does not hold is a finding, with the reading under which it
would hold (`other_readings`) and the cells of which a correction would set right all that speaks of them
(`misprints`).
"""

from __future__ import annotations

from functools import cache

from loadgo.published.document import Document
from loadgo.published.failures import Numbers, failures_of
from loadgo.published.finding import Finding
from loadgo.published.misprints import suspects_of
from loadgo.published.other_readings import reading_of

MOST_SUSPECTED = 3
"""Of more failures than this in one relation it is not a misprint that is looked for."""


@cache
def check(document: Document) -> tuple[Finding, ...]:
    """All that the document says of its numbers and that they do not bear out, in the order of its relations."""
    numbers = Numbers(document.figures)
    failing = [(relation, failures_of(relation.claims, numbers)) for relation in document.relations]
    found = []
    for relation, failures in failing:
        if not failures:
            continue
        reading = reading_of(relation, numbers, failures)
        others = [claim for other in document.relations if other is not relation for claim in other.claims]
        mine = relation.claims if reading is None else reading.claims
        taken = numbers if reading is None else reading.numbers
        remaining = failures if reading is None else failures_of(reading.claims, reading.numbers)
        suspects = suspects_of(remaining, (*mine, *others), taken) if len(remaining) <= MOST_SUSPECTED else ()
        text = "" if reading is None else reading.text
        found.append(Finding(document.name, relation, failures, text, remaining, suspects))
    return tuple(found)
