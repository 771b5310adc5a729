"""A reproduction in words: the answer, marks, figures as they would have been printed, and where a document errs."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from loadgo.notation.figures import digits
from loadgo.published.document import Document, Figure
from loadgo.published.finding import Failure, Finding
from loadgo.reproduction.reproduce import BAD, DocumentAgain, Reproduced, ReproducedTotal, Reproduction, Verdict

LOOSE = 0.1
"""How far a fitted figure may be from what is printed before it is told."""

MARKS: dict[Verdict, str] = {
    "given": "g",
    "fitted": "f",
    "within": "p",
    "outside": "p!",
    "misprint": "p*",
    "missing": "?",
    "not predicted": "!",
    "not modelled": "n",
}

LEGEND = (
    ("g", "given: fed into the model"),
    ("f", "fitted: a parameter was set by it"),
    ("p", "predicted, and within its tolerance"),
    ("p!", "predicted, and outside its tolerance"),
    ("p*", "predicted, and off only because the document misprints it"),
    ("n", "not modelled"),
    ("?", "to be predicted or fitted, and no model gives it"),
    ("!", "to be predicted, and only fed in or fitted"),
)


def answer(told: Reproduction) -> str:
    """The first sentence: how many figures, and whether what was predicted holds."""
    names = ", ".join(again.document.name for again in told.documents)
    return f"{names}: {_counts(told.count)}"


def about(again: DocumentAgain) -> str:
    """The same of one document."""
    return _counts(again.count)


def took(told: Reproduction) -> str:
    """What the reproduction took."""
    return f"{told.experiments} runs of simulated machines in {told.wall_s:.0f} s"


SUMMARY = (
    "document",
    "figures",
    "given",
    "fitted",
    "predicted",
    "outside",
    "not predicted",
    "not modelled",
    "findings",
)
"""The columns of the summary; `not predicted`: to be predicted or fitted, and missing or merely fed in."""


BELOW = (
    "findings: places where the document contradicts itself",
    "exit status 1: a figure is outside its tolerance, missing or not predicted; 0: none is",
)
"""What the summary does not say of itself."""


def summary(told: Reproduction) -> list[tuple[str, ...]]:
    """A row for each document: how many figures came to what, and how many findings its own numbers gave."""
    return [
        (
            again.document.name,
            *(str(again.count(*verdicts)) for verdicts in _SUMMED),
            str(len(again.findings)),
        )
        for again in told.documents
    ]


_SUMMED: tuple[tuple[Verdict, ...], ...] = (
    tuple(MARKS),
    ("given",),
    ("fitted",),
    ("within", "outside", "misprint"),
    ("outside",),
    ("missing", "not predicted"),
    ("not modelled",),
)


def _counts(count: Callable[..., int]) -> str:
    every = count(*MARKS)
    predicted = count("within", "outside", "misprint")
    outside, missing = count("outside"), count("missing")
    parts = [f"{count('given')} given", f"{count('fitted')} fitted", f"{predicted} predicted"]
    parts += [f"{count('not modelled')} not modelled"]
    if weak := count("not predicted"):
        parts.append(f"{weak} not predicted that should be")
    if missing:
        parts.append(f"{missing} missing")
    verdict = f"{outside} outside tolerance" if outside else "all predicted ones within tolerance"
    if misprints := count("misprint"):
        verdict += f", {misprints} misprinted"
    return f"{every:,} figures: {', '.join(parts)}; {verdict}"


def ours_text(cell: Reproduced) -> str:
    """Our figure as it would have been printed; empty of one that is given as it is printed, or not there."""
    if cell.ours is None or (cell.verdict in ("given", "not modelled") and cell.ratio in (1.0, None)):
        return ""
    return value_text(cell.figure, cell.ours.value, cell.ours.high)


def value_text(figure: Figure, value: float, high: float | None = None) -> str:
    """A value in the manner of a printed figure: as many decimals, but three significant digits at least."""
    if high is not None:
        return f"{value_text(figure, value)}–{value_text(figure, high)}"
    if figure.unit == "date":
        day = date.fromordinal(round(value))
        return f"{day.month}/{day.day}/{day.year % 100}"
    if figure.unit == "min:s":
        return f"{int(value) // 60:02}:{int(value) % 60:02}"
    places, half = 0, figure.number.low_half
    while half and 2 * half < 1 and places < 6:
        half, places = half * 10, places + 1
    return significant(value, places)


def significant(value: float, places: int = 0) -> str:
    """With `places` decimals, more where three significant digits need them."""
    if value == 0 or value != value:
        return "0" if value == 0 else "–"
    needed = digits(abs(value))
    least = len(needed.partition(".")[2]) if abs(value) < 1000 else 0
    return f"{value:,.{max(places, least)}f}"


def ratio_text(ratio: float | None) -> str:
    """`×1.03`; empty where there is none."""
    return "" if ratio is None else f"×{ratio:.3g}" if ratio >= 0.0995 else f"×{ratio:.2g}"


def mark(cell: Reproduced | ReproducedTotal) -> str:
    """The sign of its verdict."""
    return MARKS[cell.verdict]


def troubles(again: DocumentAgain) -> list[str]:
    """A line for each figure that is not as it should be."""
    lines = []
    for cell in again.cells.values():
        if cell.verdict in BAD or cell.verdict == "misprint":
            lines.append(f"{_short(cell.figure.id)}: {_trouble(cell)}")
    for total in again.totals:
        if total.rule is not None and total.verdict in BAD:
            ours = "nothing" if total.ours is None else significant(total.ours)
            within = "" if total.rule.within is None else f", tolerance {total.rule.within.text}"
            lines.append(f"{_short(total.total.id)}: {significant(total.printed)} printed, {ours} ours{within}")
    return lines


def loose_fits(again: DocumentAgain) -> list[str]:
    """A line for each figure that a parameter was set by and that ours is still far from."""
    return [
        f"{_short(key)}: printed {cell.figure.text}, ours {value_text(cell.figure, cell.ours.value, cell.ours.high)}"
        for key, cell in again.cells.items()
        if cell.verdict == "fitted" and cell.ours and cell.ratio and abs(cell.ratio - 1) > LOOSE
    ]


def _trouble(cell: Reproduced) -> str:
    ours = "" if cell.ours is None else value_text(cell.figure, cell.ours.value, cell.ours.high)
    if cell.verdict == "missing":
        return f"to be {cell.rule.mark}, and no model gives it"
    if cell.verdict == "not predicted":
        return (
            f"printed {cell.figure.text}, ours {ours}: to be predicted, and it is {cell.ours.mark if cell.ours else ''}"
        )
    within = cell.rule.within.text if cell.rule.within else ""
    if cell.verdict == "misprint":
        by_others = f"by the document's other figures {cell.corrected}"
        return f"printed {cell.figure.text}, {by_others}, ours {ours} (within {within})"
    return f"printed {cell.figure.text}, ours {ours}, tolerance {within}: {cell.rule.why}"


def sources(again: DocumentAgain) -> list[tuple[str, str]]:
    """Where ours come from: for each way, the figures that came so; those not modelled with their reason."""
    ways: dict[str, list[str]] = {}
    for cell in again.cells.values():
        if cell.verdict == "not modelled" and cell.ours is None:
            ways.setdefault(f"not modelled: {cell.rule.why}", []).append(_short(cell.figure.id))
        elif cell.ours is not None and cell.ours.how:
            ways.setdefault(f"{cell.ours.mark}: {cell.ours.how}", []).append(_short(cell.figure.id))
    return [(_several(names), way.replace("`", "")) for way, names in ways.items()]


def findings(again: DocumentAgain) -> tuple[tuple[str, ...], ...]:
    """Where the document contradicts itself: of each finding its lines."""
    return tuple(tuple(finding(found, again.document)) for found in again.findings)


def finding(found: Finding, document: Document) -> list[str]:
    """What the document says, how that fails, how it would hold, and which cell is likely misprinted."""
    figures = document.figures
    count, claims = len(found.failures), len(found.relation.claims)
    how = "contradicts itself" if found.degree == "contradiction" else "is off in the last digit"
    many = f" in {count} of {claims} cases" if claims > 1 else ""
    lines = [f"{found.relation.says} This {how}{many}."]
    if found.reading:
        rest = len(found.remaining)
        lines.append(f"It holds otherwise: {found.reading}" + (f"; then {rest} of {claims} fail." if rest else "."))
    lines += [failure(one, figures) for one in found.remaining[:3]]
    if len(found.remaining) > 3:
        lines.append(f"… and {len(found.remaining) - 3} more.")
    for suspect in found.suspects:
        mends = f"{suspect.mended} claims hold" if suspect.mended > 1 else "it holds"
        lines.append(f"If {_short(suspect.figure)}, printed {suspect.printed}, is {suspect.text}, {mends}.")
    return lines


def failure(failed: Failure, figures: dict[str, Figure]) -> str:
    """A claim with its printed numbers, and what they come to."""
    left, right = re.split(r"\s(?:=|<=|>=)\s", failed.claim.text, maxsplit=1)
    prefix = next(iter(figures)).partition("/")[0]
    units = {figures[key].unit for key in failed.figures}
    sign = {"=": "≠", "<=": "is not ≤", ">=": "is not ≥"}[failed.claim.comparison]
    shown = f"{_printed(left, prefix, figures)} {sign} {_printed(right, prefix, figures)}"
    if units & {"date", "clock time"}:
        return f"{shown} ({_short(failed.figures[0])}, {_short(failed.figures[-1])})"
    simple = re.fullmatch(r"\{[^+}]*\}", right)
    return f"{_short(failed.figures[0])}: {shown}" + ("" if simple else f" = {significant(failed.right)}")


def _printed(side: str, prefix: str, figures: dict[str, Figure]) -> str:
    """One side of a claim with the printed numbers in place of the cells."""

    def number(found: re.Match[str]) -> str:
        inside = found[1]
        if inside.startswith("+"):
            return f"the sum of {inside[1:]}"
        cell = f"{prefix}/{re.sub(r'[.](low|high)$', '', inside)}"
        value = figures[cell].number
        if figures[cell].unit == "date":
            return figures[cell].text
        return significant(float(value.high if inside.endswith(".high") else value.low))

    return re.sub(r"\{([^}]*)\}", number, side)


def _short(key: str) -> str:
    """An id without its document's name."""
    return key.partition("/")[2]


def _several(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
