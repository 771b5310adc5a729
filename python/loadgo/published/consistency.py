"""Checks whether a published document contradicts itself: computes each relation between its numbers again.

A claim holds when its two sides can be equal within the rounding of the printed digits. In sums of cells the last
digit must be right too. A relation that does not hold is a finding. It names another reading under which the relation
would hold (`other_readings`), and the cells that are probably misprinted (`misprints`).
"""

from __future__ import annotations

from functools import cache

from loadgo.published.document import Document
from loadgo.published.failures import Numbers, failing_claims
from loadgo.published.finding import Finding
from loadgo.published.misprints import suspect_cells
from loadgo.published.other_readings import find_reading

MOST_SUSPECTED_FAILURES = 3
"""A relation with more failures than this is not searched for misprints. Chosen by hand."""


@cache
def find_contradictions(document: Document) -> tuple[Finding, ...]:
    """Finds the relations that the document's numbers contradict, in the order of the document."""
    numbers = Numbers(document.figures)
    failing = [(relation, failing_claims(relation.claims, numbers)) for relation in document.relations]
    findings = []
    for relation, failures in failing:
        if not failures:
            continue
        reading = find_reading(relation, numbers, failures)
        others = [claim for other in document.relations if other is not relation for claim in other.claims]
        claims = relation.claims if reading is None else reading.claims
        read_numbers = numbers if reading is None else reading.numbers
        remaining = failures if reading is None else failing_claims(reading.claims, reading.numbers)
        searched = remaining if len(remaining) <= MOST_SUSPECTED_FAILURES else ()
        suspects = suspect_cells(searched, (*claims, *others), read_numbers)
        text = "" if reading is None else reading.text
        findings.append(Finding(document.name, relation, failures, text, remaining, suspects))
    return tuple(findings)
