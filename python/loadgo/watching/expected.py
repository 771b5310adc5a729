"""Expected figures for a watched run, from a model, to be shown beside the measured ones.

The model may be a machine file, such as `loadgo fit` makes, which is run here with the same script and load. Or it is
a run that has ended, a prediction or a measurement, whose figures are the expected ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from loadgo.errors import BadRun, LoadgoError, Refused
from loadgo.prediction.figures import figures_of
from loadgo.records.fleet_tables import tables_without_hosts
from loadgo.records.following import latest_ns
from loadgo.records.prediction import ALL_COMMANDS
from loadgo.records.tables import Tables, read_conditions, tables
from loadgo.running.machines import find as find_machine
from loadgo.running.process_call import ProcessCall
from loadgo.watching.window import window_of

Expected = dict[str, Any]
"""Expected figures by name.

`figures` is a list of command, measure and value, and for a prediction low and high. `busy` is the share of the
processors' time, `ready` the mean length of the run queue, `note` a sentence about the source or the failure.
"""


@dataclass
class Model:
    """A model of the run in the folder `watched`: a machine, or a run that has ended."""

    name: str
    watched: Path
    _running: ProcessCall | None = None
    _is_ended: bool = False

    def check(self) -> None:
        """Raises `BadRun` if the model is neither a machine nor a run, or a machine without a script to run."""
        if self._is_run():
            return
        try:
            find_machine(self.name)
        except (LoadgoError, OSError, ValueError) as error:
            raise BadRun(f"`model={self.name}` is neither a run's folder nor a machine: {error}").about(
                "model"
            ) from error
        if not (self.watched / "script.toml").exists():
            words = "there is no script in it that a machine could run (a metering has none): give a run as `model`"
            raise BadRun(f"{self.watched}: {words}").about("model")

    def expected(self) -> Expected:
        """The expected figures. A machine is run for them, with the script and the load of the watched run.

        Raises `errors.Refused` if the machine cannot run, `BadRun` for a run that cannot be read.
        """
        if self._is_run():
            return of_run(tables_without_hosts(self.name, "`model`"), f"of the run {Path(self.name).name}")
        load = _load(read_conditions(self.watched).get("load", {}))
        with TemporaryDirectory(prefix="loadgo-expected-") as temporary:
            folder = Path(temporary) / "expected"
            self._run(script=self.watched / "script.toml", on=self.name, out=folder, draws=None, **load)
            return of_run(tables(folder), f"of {Path(self.name).name}, run here with the same script and users")

    def end(self) -> None:
        """Ends the machine's run, which is no longer needed."""
        self._is_ended = True
        if self._running is not None:
            self._running.end()

    def _is_run(self) -> bool:
        return Path(self.name, "run.toml").exists()

    def _run(self, **arguments: Any) -> None:
        """Calls `loadgo.run` in a process of its own, at the lowest priority: the watched run may be on this host."""
        if self._is_ended:
            raise Refused("nobody waits for the model any more")
        self._running = ProcessCall(_run, idle=True, **arguments)
        try:
            outcome = self._running.result()
        except (LoadgoError, ValueError, OSError) as why:
            raise Refused(f"the model {self.name} could not be run: {why}") from None
        if outcome != "done":
            raise Refused(f"the model {self.name} could not be run to its end: it {outcome}")


def _run(**arguments: Any) -> str:
    """Makes a run and returns its outcome. The records stay in its folder."""
    from loadgo.running.run import run

    return run(**arguments).outcome


@contextmanager
def in_background(model: Model, *, waits: bool) -> Iterator[Callable[[], Expected]]:
    """Runs the model in the background, and yields a function that returns its figures.

    With `waits`, the function waits for the figures and raises the errors of `Model.expected`. Otherwise it returns at
    once, and without figures the note says why.
    """
    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(model.expected)
        try:
            yield future.result if waits else lambda: _figures_so_far(future)
        finally:
            model.end()


def _figures_so_far(future: Future[Expected]) -> Expected:
    no_figures: Expected = {"figures": [], "busy": None, "ready": None}
    if not future.done():
        return no_figures | {"note": "the model is running"}
    try:
        return future.result()
    except (LoadgoError, OSError, ValueError) as error:
        return no_figures | {"note": str(error)}


def _load(load: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `loadgo.run` for the same load. A load without an end lasts ten minutes."""
    arguments = {
        "users": load.get("users"),
        "think": load.get("think"),
        "passes": load.get("passes"),
        "seed": load.get("seed"),
        "arrivals": load.get("arrivals_per_second"),
        "duration": load.get("duration_s"),
    }
    if arguments["passes"] is None and arguments["duration"] is None:
        arguments["duration"] = "10min"
    return {name: value for name, value in arguments.items() if value is not None}


def of_run(run: Tables, origin: str) -> Expected:
    """The steady figures of a run, with intervals if it is a prediction. `origin` names the run in the note."""
    steady = "steady" if "steady" in run.phases["phase"].cast(str).to_list() else "all"
    predicted = run.prediction.figures.get(steady, ()) if run.prediction else ()
    figures = [
        {"command": figure.command, "measure": figure.measure, "value": figure.predicted}
        | {"low": figure.interval.low, "high": figure.interval.high}
        for figure in predicted
    ] or [
        {"command": command, "measure": measure, "value": value}
        for (command, measure), value in figures_of(run, steady).items()
    ]
    end_ns = latest_ns(run)
    whole_run = window_of(run, end_ns, end_ns, 1)
    busy, ready = whole_run.busy_share, float(whole_run.ready[0])
    intervals = "; low to high: 95 of 100 runs, if the model is right" if predicted else ""
    return {
        "figures": [
            figure for figure in figures if figure["command"] == ALL_COMMANDS or figure["measure"] == "response"
        ],
        "busy": None if math.isnan(busy) else busy,
        "ready": None if math.isnan(ready) else ready,
        "note": f"Expected: the {steady} part {origin}{intervals}. Measured: the window above.",
    }
