"""A fit as text: what each command asks for, what else was found, and what was assumed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table

from loadgo.notation.figures import duration, people, plain
from loadgo.notation.keys import parts_of
from loadgo.notation.laws import read_law
from loadgo.prediction.fitted import Parameter

if TYPE_CHECKING:
    from loadgo.fitting.fit import Fit

_WIDTH = 100


def fit_text(made: Fit, *, color: bool = False) -> str:
    """The text, fitted to the terminal, or 100 columns wide."""
    console = Console(markup=False, highlight=False, emoji=False, no_color=not color, force_terminal=color)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, emoji=False, no_color=True, width=_WIDTH)
    with console.capture() as captured:
        _print(console, made)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def _print(console: Console, made: Fit) -> None:
    fit = made.fitted
    who = f"with {people(*sorted(set(fit.users)))}" if fit.users else "of users who came and went"
    console.print(f"{plain(made.title)}: {fit.interactions:,} interactions {who}.")
    console.print(_table(_means(fit.parameters)))
    if made.checks:
        console.print("The machine under the load that it was fitted to")
        console.print(_checks(made))
    for heading, texts in (("Assumed", fit.assumed), ("Predict", (made.hint,))):
        for text in texts:
            console.print(_remark(heading, text))


def _means(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [one for one in parameters if one.of == "mean"]


def _table(parameters: Sequence[Parameter]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("value", "mean", "95 % interval", "from"):
        table.add_column(head, justify="right" if head == "mean" else "left", overflow="fold")
    for one in parameters:
        ends = "" if one.low is None else f"{_shown(one.low)} – {_shown(one.high)}"
        table.add_row(plain(_name(one.key)), _shown(one.value), ends, plain(one.source))
    return table


def _name(key: str) -> str:
    """A key in words: `commands.edit.cpu` is edit, cpu."""
    parts = parts_of(key)
    return ", ".join(parts[1:] if parts[0] in ("commands", "storage", "supervisor") else parts)


def _shown(text: str | None) -> str:
    if text is None:
        return ""
    law = read_law(text if not _is_number(text) else float(text))
    return duration(law.mean) if law.timed else f"{law.mean:.4g}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _checks(made: Fit) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    several = len({one.run for one in made.checks}) > 1
    for head in (*(("run",) if several else ()), "users", "figure", "measured", "the machine", "off by"):
        table.add_column(head, justify="left" if head in ("run", "figure") else "right", overflow="fold")
    for one in made.checks:
        off = f"{100 * one.off:+.1f} %"
        row = (str(one.users), one.figure, one.shown(one.measured), one.shown(one.machine), off)
        table.add_row(*((plain(one.run),) if several else ()), *row)
    return table


def _remark(heading: str, text: str) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(width=9)
    table.add_column(overflow="fold")
    table.add_row(heading, plain(text))
    return table
