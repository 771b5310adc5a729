"""The bar that shows a run while it goes on, on the error output, and nothing when that is no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def bar(console: Console, *, shown: bool = True) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """A function that shows what `loadgo.run` tells; None when `console` is no terminal or it is not to be `shown`."""
    if not (shown and console.is_terminal):
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as display:
        task = display.add_task("starting", total=None, told="")

        def show(told: dict[str, Any]) -> None:
            done, total = amount(told)
            display.update(task, description=str(told["phase"]), completed=done, total=total, told=in_words(told))

        yield show


def amount(told: dict[str, Any]) -> tuple[float, float | None]:
    """How much is done, and of how much where that is known."""
    if told["phase"] == "log-in":
        return float(told["users_logged_in"]), float(told["users"])
    if told["phase"] == "drawing":
        return float(told["runs"]), float(told["runs_expected"])
    expected = told.get("interactions_expected")
    return float(told["interactions"]), None if expected is None else float(expected)


def in_words(told: dict[str, Any]) -> str:
    """One line about the run as it stands."""
    if told["phase"] == "log-in":
        return f"{told['users_logged_in']:,} of {told['users']:,} users logged in"
    if told["phase"] == "drawing":
        return f"{told['runs']:,} of {told['runs_expected']:,} runs, as fitted and with parameters drawn anew"
    return f"{told['users']:,} users, {told['interactions']:,} interactions{_virtual_time(told)}"


def _virtual_time(told: dict[str, Any]) -> str:
    """How far a simulated machine has come, and how much faster than its own time; nothing on a host."""
    computed_s = told.get("computed_s")
    if not computed_s:
        return ""
    return f", {told['at_s'] / 60:,.0f} min of virtual time, {told['at_s'] / computed_s:,.0f} times as fast"
