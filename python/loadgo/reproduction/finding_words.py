"""The texts of a document's contradictions: where a relation fails, a reading that holds, and likely misprints."""

from __future__ import annotations

import re

from loadgo.published.document import Document, Figure
from loadgo.published.finding import Failure, Finding, contradictions_in_words
from loadgo.reproduction.reproduce import ReproducedDocument
from loadgo.reproduction.words import short_id, significant, value_text


def findings_title(reproduced: ReproducedDocument) -> str:
    """The title of the list of contradictions, with their number."""
    return contradictions_in_words(reproduced.findings)


def findings(reproduced: ReproducedDocument) -> tuple[tuple[str, ...], ...]:
    """The lines of each contradiction in the document."""
    return tuple(tuple(finding_lines(finding, reproduced.document)) for finding in reproduced.findings)


def finding_lines(finding: Finding, document: Document) -> list[str]:
    """The lines of a contradiction: the relation, its failures, a reading that holds, and likely misprints."""
    figures = document.figures
    count, claims = len(finding.failures), len(finding.relation.claims)
    verdict = "contradicts itself" if finding.degree == "contradiction" else "is off in the last digit"
    cases = f" in {count} of {claims} cases" if claims > 1 else ""
    lines = [f"{finding.relation.says} This {verdict}{cases}."]
    if finding.reading:
        remaining = len(finding.remaining)
        lines.append(
            f"It holds otherwise: {finding.reading}" + (f"; then {remaining} of {claims} fail." if remaining else ".")
        )
    lines += [failure_text(failure, figures) for failure in finding.remaining[:3]]
    if len(finding.remaining) > 3:
        lines.append(f"… and {len(finding.remaining) - 3} more.")
    for suspect in finding.suspects:
        effect = f"{suspect.mended} claims hold" if suspect.mended > 1 else "it holds"
        lines.append(f"If {short_id(suspect.figure)}, printed {suspect.printed}, is {suspect.text}, {effect}.")
    return lines


def failure_text(failure: Failure, figures: dict[str, Figure]) -> str:
    """A claim that fails, with the printed numbers in place of cells."""
    left, right = re.split(r"\s(?:=|<=|>=)\s", failure.claim.text, maxsplit=1)
    prefix = next(iter(figures)).partition("/")[0]
    units = {figures[key].unit for key in failure.figures}
    sign = {"=": "≠", "<=": "is not ≤", ">=": "is not ≥"}[failure.claim.comparison]
    left_text = f"{_printed(left, prefix, figures)}{_value(left, failure.left)}"
    shown = f"{left_text} {sign} {_printed(right, prefix, figures)}"
    if units & {"date", "clock time"}:
        return f"{shown} ({short_id(failure.figures[0])}, {short_id(failure.figures[-1])})"
    return f"{short_id(failure.figures[0])}: {shown}{_value(right, failure.right)}"


def _value(side: str, value: float) -> str:
    """The value of a side of a claim, as ` = 96.8`. Empty for a side that is a single cell or a number."""
    return "" if re.fullmatch(r"\{[^+}]*\}|[\d.]+", side.strip()) else f" = {significant(value)}"


def _printed(side: str, prefix: str, figures: dict[str, Figure]) -> str:
    """A side of a claim with the printed numbers in place of cells."""

    def printed_number(match: re.Match[str]) -> str:
        reference = match[1]
        if reference.startswith("+"):
            return f"the sum of {reference[1:]}"
        figure = figures[f"{prefix}/{re.sub(r'[.](low|high)$', '', reference)}"]
        if figure.unit == "date":
            return figure.text
        return value_text(figure, float(figure.number.high if reference.endswith(".high") else figure.number.low))

    return re.sub(r"\{([^}]*)\}", printed_number, side)
