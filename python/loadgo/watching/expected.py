"""What a model expects of a run that is watched: its own run in virtual time, as a few figures beside what is measured.

The model is a machine's file, such as `loadgo fit` makes, which is run here with the watched run's script and load; or
a run that has ended, a prediction or a measurement, whose figures then are what is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from loadgo.errors import BadRun, LoadgoError, Refused
from loadgo.prediction.figures import figures_of
from loadgo.records.following import reach_of
from loadgo.records.prediction import ALL
from loadgo.records.tables import Tables, read_conditions, tables
from loadgo.running.apart import Apart
from loadgo.running.machines import find as find_machine
from loadgo.watching.frame import frame_of

Expected = dict[str, Any]
"""`figures`: a list of command, measure, value and, of a prediction, low and high; `busy`, `ready`; a `note`."""


@dataclass
class Model:
    """What expects something of the run that is watched in `watched`: a machine, or a run that has ended."""

    name: str
    watched: Path
    _running: Apart | None = None
    _over: bool = False

    def check(self) -> None:
        """Raises `BadRun` when it is neither a machine nor a run, or a machine that has no script to run."""
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
        """Its figures; a machine is run for them, with the script and the load of the run that is watched.

        Raises `errors.Refused` when that cannot be done, `BadRun` for a run that cannot be read.
        """
        if self._is_run():
            return of_run(tables(self.name), f"of the run {Path(self.name).name}")
        load = _load(read_conditions(self.watched).get("load", {}))
        with TemporaryDirectory(prefix="loadgo-expected-") as kept:
            folder = Path(kept) / "expected"
            self._run(script=self.watched / "script.toml", on=self.name, out=folder, draws=None, **load)
            return of_run(tables(folder), f"of {Path(self.name).name}, run here with the same script and users")

    def end(self) -> None:
        """Ends the machine's run, since nobody waits for it any more."""
        self._over = True
        if self._running is not None:
            self._running.end()

    def _is_run(self) -> bool:
        return Path(self.name, "run.toml").exists()

    def _run(self, **arguments: Any) -> None:
        """Calls `loadgo.run` in a process of its own, at the lowest priority: the watched run may be on this host."""
        if self._over:
            raise Refused("nobody waits for the model any more")
        self._running = Apart(_run, idle=True, **arguments)
        try:
            outcome = self._running.result()
        except (LoadgoError, ValueError, OSError) as why:
            raise Refused(f"the model {self.name} could not be run: {why}") from None
        if outcome != "done":
            raise Refused(f"the model {self.name} could not be run to its end: it {outcome}")


def _run(**arguments: Any) -> str:
    """Makes a run and returns its outcome; its records stay in its folder."""
    from loadgo.running.run import run

    return run(**arguments).outcome


@contextmanager
def beside(model: Model, *, waits: bool) -> Iterator[Callable[[], Expected]]:
    """Asks the model meanwhile; gives what it has told so far: as long as that is nothing, the note says why.

    `waits`: what is asked waits until it has told all. Raises then as `Model.expected` does.
    """
    with ThreadPoolExecutor(1) as apart:
        asked = apart.submit(model.expected)
        try:
            yield asked.result if waits else lambda: _so_far(asked)
        finally:
            model.end()


def _so_far(asked: Future[Expected]) -> Expected:
    nothing: Expected = {"figures": [], "busy": None, "ready": None}
    if not asked.done():
        return nothing | {"note": "the model is asked"}
    try:
        return asked.result()
    except (LoadgoError, OSError, ValueError) as why:
        return nothing | {"note": str(why)}


def _load(load: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `loadgo.run` for the same load; a load without an end of its own gets ten minutes."""
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


def of_run(told: Tables, whose: str) -> Expected:
    """The steady figures of a run, with the intervals of a prediction where it is one."""
    steady = "steady" if "steady" in told.phases["phase"].cast(str).to_list() else "all"
    kept = told.prediction.figures.get(steady, ()) if told.prediction else ()
    figures = [
        {"command": one.command, "measure": one.measure, "value": one.predicted}
        | {"low": one.interval.low, "high": one.interval.high}
        for one in kept
    ] or [
        {"command": command, "measure": measure, "value": value}
        for (command, measure), value in figures_of(told, steady).items()
    ]
    reach = reach_of(told)
    frame = frame_of(told, reach, reach, 1)
    ready = float(frame.ready[0])
    intervals = "; low to high: 95 of 100 runs, if the model is right" if kept else ""
    return {
        "figures": [one for one in figures if one["command"] == ALL or one["measure"] == "response"],
        "busy": None if frame.busy_share != frame.busy_share else frame.busy_share,
        "ready": None if ready != ready else ready,
        "note": f"Expected: the {steady} part {whose}{intervals}. Measured: the window above.",
    }
