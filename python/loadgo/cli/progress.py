"""The progress bar of a run, on the standard error if it is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


@contextmanager
def progress_bar(console: Console, *, shown: bool = True) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yields a function that shows the progress of `loadgo.run`; None if `console` is no terminal, or not `shown`."""
    if not (shown and console.is_terminal):
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[summary]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as display:
        task = display.add_task("starting", total=None, summary="")

        def show(state: dict[str, Any]) -> None:
            done, total = _amount_done(state)
            display.update(
                task, description=str(state["phase"]), completed=done, total=total, summary=_state_line(state)
            )

        yield show


def _amount_done(state: dict[str, Any]) -> tuple[float, float | None]:
    """The amount of work that is done, and the total if it is known."""
    if state["phase"] == "log-in":
        return float(state["users_logged_in"]), float(state["users"])
    if state["phase"] == "drawing":
        return float(state["runs"]), float(state["runs_expected"])
    expected = state.get("interactions_expected")
    return float(state["interactions"]), None if expected is None else float(expected)


def _state_line(state: dict[str, Any]) -> str:
    """The present state of the run in a line."""
    if state["phase"] == "log-in":
        return f"{state['users_logged_in']:,} of {state['users']:,} users logged in"
    if state["phase"] == "drawing":
        return f"{state['runs']:,} of {state['runs_expected']:,} runs, as fitted and with parameters drawn anew"
    return f"{state['users']:,} users, {state['interactions']:,} interactions{_virtual_time(state)}"


def _virtual_time(state: dict[str, Any]) -> str:
    """A simulated machine's time, and its speed relative to real time; empty on a host."""
    computed_s = state.get("computed_s")
    if not computed_s:
        return ""
    return f", {state['at_s'] / 60:,.0f} min of virtual time, {state['at_s'] / computed_s:,.0f} times as fast"
