"""The laboratory that reproduces documents: it runs scripts on machines, each once, and several at a time."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.errors import Refused
from loadgo.reproduction.models.totals import RunTotals, totals_of
from loadgo.running.worker_runs import RunCrew, this_process


@dataclass(frozen=True)
class Experiment:
    """Arguments of a run, as `loadgo.run` takes them. None leaves the script's own value."""

    script: str
    """The name of a bundled script, a path, or a script's text, which has more than one line."""
    on: str
    """The name of a bundled machine, or a path."""
    users: int = 1
    seed: int = 1
    set: tuple[str, ...] = ()
    """Changes of the machine file, such as `processors.speed=2`."""
    passes: int | None = None
    duration: str | None = None
    think: str | None = None
    warm_up: str | None = None
    until: str | None = None
    arrivals: str | None = None


class Lab:
    """Runs experiments into a temporary folder, equal experiments only once. Close it: `with Lab() as lab:`."""

    def __init__(self, crew: RunCrew | None = None) -> None:
        self._crew = crew or this_process()
        self._folder = tempfile.TemporaryDirectory(prefix="loadgo-reproduce-", ignore_cleanup_errors=True)
        self._threads = ThreadPoolExecutor(max_workers=self._crew.threads, thread_name_prefix="experiment")
        self._stop = threading.Event()
        self._runs_by_experiment: dict[Experiment, Future[RunTotals]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._folder.cleanup()

    def stop(self) -> None:
        """Ends the experiments under way, and refuses others. Who waits for one has the error that it was stopped."""
        self._stop.set()

    @property
    def count(self) -> int:
        """Number of different experiments."""
        return len(self._runs_by_experiment)

    def run(self, script: str, on: str, users: int = 1, seed: int = 1, **others: Any) -> RunTotals:
        """The totals of a run of `script` by `users` on the machine `on`. `others` are fields of `Experiment`.

        Raises what `loadgo.run` raises.
        """
        return self.runs([Experiment(script, on, users, seed, **others)])[0]

    def runs(self, experiments: Iterable[Experiment]) -> list[RunTotals]:
        """The totals of all `experiments` in their order. As many run at a time as there are processors.

        An experiment must not call it, since it would wait for itself.
        """
        return [future.result() for future in [self._submit(experiment) for experiment in experiments]]

    def _submit(self, experiment: Experiment) -> Future[RunTotals]:
        with self._lock:
            if experiment not in self._runs_by_experiment:
                folder = Path(self._folder.name) / f"{len(self._runs_by_experiment):04}"
                self._runs_by_experiment[experiment] = self._threads.submit(self._run_totals, experiment, folder)
            return self._runs_by_experiment[experiment]

    def _run_totals(self, experiment: Experiment, folder: Path) -> RunTotals:
        from loadgo.records.tables import tables
        from loadgo.running.load import Load
        from loadgo.running.run import simulate_run

        if self._stop.is_set():
            raise Refused("the reproduction was stopped")
        names = ("users", "seed", "passes", "duration", "think", "warm_up", "until", "arrivals")
        load = Load(**{name: getattr(experiment, name) for name in names})
        script = _script_argument(experiment.script, folder)
        simulate_run(self._crew.drive, script, experiment.on, load, set=experiment.set, out=folder, stop=self._stop)
        return totals_of(tables(folder))


def _script_argument(script: str, folder: Path) -> str | Path:
    """The script as `loadgo.run` takes it. A text of several lines is written beside the run's folder."""
    if "\n" not in script:
        return script
    path = folder.with_suffix(".toml")
    path.write_text(script, encoding="utf-8")
    return path
