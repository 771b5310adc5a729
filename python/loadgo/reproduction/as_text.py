"""A reproduction on a terminal: each document in its own layout, its contradictions, and where ours come from."""

from __future__ import annotations

import shutil
import textwrap
from io import StringIO

from rich.console import Console
from rich.text import Text

from loadgo.notation.figures import plain
from loadgo.reproduction import words
from loadgo.reproduction.block import Block, Shown, ShownRow
from loadgo.reproduction.layout import blocks
from loadgo.reproduction.reproduce import BAD, DocumentAgain, Reproduction

NARROWEST = 72
WIDEST = 140
_GAP = "  "
_LEAST_LABEL = 12
_LONG = 20
"""Longer cells than this are of text, and wrapped."""
_STYLES = {"p!": "bold red", "!": "bold red", "?": "bold red", "p*": "magenta", "p": "green", "f": "cyan"}

Line = tuple[str, str]
"""A line and its style."""


def text_reproduction(told: Reproduction, *, width: int | None = None, color: bool = False) -> str:
    """The reproduction for a terminal of `width` characters (the present one's by default); with colour on request."""
    page = min(WIDEST, max(NARROWEST, width or shutil.get_terminal_size((100, 24)).columns))
    lines: list[Line] = [*_wrapped(words.answer(told), page, "bold"), ("", "")]
    lines += _summary(told)
    lines += [("", ""), *(line for text in words.BELOW for line in _wrapped(text, page, "dim", "  "))]
    lines += [("", ""), *(_legend_line(sign, meaning) for sign, meaning in words.LEGEND)]
    for again in told.documents:
        lines += [("", ""), ("═" * page, "dim"), *_document(again, page)]
    took = f"{told.experiments} runs of simulated machines in {told.wall_s:.0f} s"
    return _rendered([*lines, ("", ""), (took, "dim")], page, color)


def _summary(told: Reproduction) -> list[Line]:
    rows = [words.SUMMARY, *words.summary(told)]
    names = [heading.split() for heading in words.SUMMARY]
    widths = [max(max(map(len, name)), *(len(row[i]) for row in rows[1:])) for i, name in enumerate(names)]
    heads = [tuple(name[-2] if len(name) > 1 else "" for name in names), tuple(name[-1] for name in names)]
    lines = []
    for row in [*heads, *rows[1:]]:
        first, *others = (
            text.ljust(w) if i == 0 else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))
        )
        lines.append((" ".join([first, *others]), "dim" if row in heads else ""))
    return lines


def _legend_line(sign: str, meaning: str) -> Line:
    return f"{sign:>4}  {meaning}", "dim"


def _document(again: DocumentAgain, page: int) -> list[Line]:
    told = again.document
    lines = [*_wrapped(told.title, page, "bold"), (f"{told.by} · {told.dated}", "dim")]
    lines += _wrapped(words.about(again), page, "bold red" if again.count(*BAD) else "")
    for block in blocks(again):
        lines += [("", ""), *(_stacked(block, page) if block.stacked else _listed(block, page))]
    lines += _section("Where the document contradicts itself", _findings(again), page)
    lines += _section("Not as it should be", [[line] for line in words.troubles(again)], page)
    fits = [[line] for line in words.loose_fits(again)]
    lines += _section("Fitted, and still more than 10 % off", fits, page)
    ways = [[f"{names}: {way}"] for names, way in words.sources(again)]
    return lines + _section("Where ours come from", ways, page)


def _findings(again: DocumentAgain) -> list[list[str]]:
    return [words.finding(found, again.document) for found in again.findings]


def _section(title: str, items: list[list[str]], page: int) -> list[Line]:
    """A heading, and each item with its further lines drawn in."""
    if not items:
        return []
    lines: list[Line] = [("", ""), (title, "bold")]
    for first, *rest in items:
        lines += _wrapped(f"· {first}", page, "", "  ")
        for line in rest:
            lines += _wrapped(f"    {line}", page, "", "      ")
    return lines


def _stacked(block: Block, page: int) -> list[Line]:
    """A table in its own layout: under each printed figure ours and their ratio, beside it the mark."""
    longest = max([8, *(len(row.label) for row in block.rows)])
    widths = _widths(block, page - min(longest, _LEAST_LABEL))
    label = min(longest, max(_LEAST_LABEL, page - sum(widths) - len(_GAP) * len(widths)))
    lines: list[Line] = _wrapped(block.title, page, "bold")
    lines += _wrapped(block.lead, page, "dim") if block.lead else []
    lines += [(line, "dim") for line in _headings(block, label, widths)]
    for row in block.rows:
        lines += _row(row, label, widths, block.under)
    return lines


def _widths(block: Block, room: int) -> list[int]:
    """The columns' widths: where there is not enough room, those that hold text are wrapped more narrowly."""
    figures = [max([6, *(_figure_width(row.cells[i]) for row in block.rows)]) for i in range(len(block.columns))]
    texts = [max([0, *(_text_width(row.cells[i]) for row in block.rows)]) for i in range(len(block.columns))]
    heads = [_heading_width(text) for text in block.columns]
    wide = [max(sizes) for sizes in zip(figures, texts, heads, strict=True)]
    over = sum(wide) + len(_GAP) * len(wide) - room
    for i in sorted(range(len(wide)), key=lambda i: figures[i] - wide[i]):
        less = min(max(over, 0), wide[i] - max(figures[i], heads[i], 8)) if texts[i] == wide[i] else 0
        wide[i], over = wide[i] - max(less, 0), over - max(less, 0)
    return wide


def _heading_width(text: str) -> int:
    return max((len(word) for word in text.split()), default=0)


def _figure_width(cell: Shown) -> int:
    """The width that a figure needs, with its mark; 0 of a cell of text."""
    if cell.verdict is None or len(cell.printed) > _LONG:
        return 0
    return max(len(cell.printed), len(cell.ours), len(cell.ratio)) + 1 + max(1, len(cell.mark))


def _text_width(cell: Shown) -> int:
    """The width that a cell of text asks for; 0 of a figure."""
    return 0 if _figure_width(cell) else min(len(cell.printed), _LONG)


def _headings(block: Block, label: int, widths: list[int]) -> list[str]:
    lines = []
    if block.over:
        shown = [text if i == 0 or block.over[i - 1] != text else "" for i, text in enumerate(block.over)]
        line = " " * label
        for text, width in zip(shown, widths, strict=True):
            at = len(line) + len(_GAP) + width
            line = f"{line}{_GAP}{text}" if text else line
            line = line.ljust(at)
        lines.append(line)
    folded = [textwrap.wrap(text, width) or [""] for text, width in zip(block.columns, widths, strict=True)]
    for k in range(max(map(len, folded))):
        parts = [
            (fold[k] if k < len(fold) else "").rjust(width - 2).ljust(width)
            for fold, width in zip(folded, widths, strict=True)
        ]
        lines.append(" " * label + _GAP + _GAP.join(parts))
    return [line for line in lines if line.strip()]


def _row(row: ShownRow, label: int, widths: list[int], under: tuple[str, str]) -> list[Line]:
    """The row's lines: as many as its label, or its figures, need."""
    folded = textwrap.wrap(row.label, label) or [""]
    deep = any(cell.ours for cell in row.cells)
    texts = [_folded(cell, width) for cell, width in zip(row.cells, widths, strict=True)]
    height = max(len(folded), 3 if deep else 1, *map(len, texts))
    lines = []
    for k in range(height):
        name = folded[k] if k < len(folded) else ("  " + ("", *under)[k] if deep and k < 3 else "")
        parts = [_part(cell, k, width, fold) for cell, width, fold in zip(row.cells, widths, texts, strict=True)]
        style = "" if k == 0 else _worst(row)
        lines.append((f"{name.ljust(label)}{_GAP}{_GAP.join(parts)}", style))
    return lines


def _folded(cell: Shown, width: int) -> list[str]:
    """A cell of text, wrapped; empty of a figure."""
    if cell.verdict is not None and len(cell.printed) <= _LONG:
        return []
    return textwrap.wrap(f"{cell.printed} {cell.mark}".rstrip(), width)


def _part(cell: Shown, k: int, width: int, folded: list[str]) -> str:
    """Line `k` of a cell: figures to the right, with room for the mark; other text to the left."""
    if folded or cell.verdict is None:
        return (folded[k] if k < len(folded) else "").ljust(width)
    if k == 0:
        return f"{cell.printed.rjust(width - 1 - _mark_width(cell))} {cell.mark}".ljust(width)
    text = (cell.ours, cell.ratio)[k - 1] if k < 3 else ""
    return text.rjust(width - 1 - _mark_width(cell)).ljust(width)


def _mark_width(cell: Shown) -> int:
    return max(1, len(cell.mark))


def _worst(row: ShownRow) -> str:
    marks = {cell.mark for cell in row.cells}
    return next((style for sign, style in _STYLES.items() if sign in marks), "dim")


def _listed(block: Block, page: int) -> list[Line]:
    """Figures one under the other: printed, ours, ratio, mark."""
    lines = _wrapped(block.title, page, "bold") if block.title else []
    lines += _wrapped(block.lead if block.title else f"“{block.lead}”", page, "italic") if block.lead else []
    cells = [row.cells[0] for row in block.rows]
    names = (block.columns[0], *block.under)
    texts = [(cell.printed, cell.ours, cell.ratio) for cell in cells]
    widths = [max(map(len, column)) for column in zip(names, *texts, strict=True)]
    room = page - sum(widths) - 5 * len(_GAP) - 2
    label = min(max(len(row.label) for row in block.rows), room)
    lines.append((f"{_GAP}{' ' * label}{_GAP}{_columns(names, widths)}", "dim"))
    for row, cell in zip(block.rows, cells, strict=True):
        first, *rest = textwrap.wrap(row.label, label)
        figures = _columns((cell.printed, cell.ours, cell.ratio), widths)
        lines.append((f"{_GAP}{first.ljust(label)}{_GAP}{figures}{_GAP}{cell.mark}", _STYLES.get(cell.mark, "")))
        lines += [(f"{_GAP}{line}", "") for line in rest]
    return lines


def _columns(texts: tuple[str, ...], widths: list[int]) -> str:
    return _GAP.join(text.rjust(width) for text, width in zip(texts, widths, strict=True))


def _wrapped(text: str, page: int, style: str, indent: str = "") -> list[Line]:
    return [(line, style) for line in textwrap.wrap(text, page, subsequent_indent=indent)]


def _rendered(lines: list[Line], page: int, color: bool) -> str:
    out = StringIO()
    console = Console(
        file=out,
        width=max(page, *(len(line) for line, _ in lines)),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for line, style in lines:
        console.print(Text(plain(line.rstrip()), style=style), no_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n") + "\n"
