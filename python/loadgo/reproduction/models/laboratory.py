"""The laboratory in which a document is reproduced: runs of scripts on machines, each done once, several at a time."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadgo.reproduction.models.totals import Totals, totals_of


@dataclass(frozen=True)
class Experiment:
    """A run to be done: what `loadgo.run` is given. None leaves the script's own."""

    script: str
    """A bundled name, a path, or a script's whole text (anything of more than one line)."""
    on: str
    """A machine: a bundled name or a path."""
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
    """Runs experiments into a temporary folder; the same one is run once. To be closed (`with Lab() as lab:`)."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="loadgo-reproduce-", ignore_cleanup_errors=True)
        self._workers = ThreadPoolExecutor(max_workers=os.cpu_count() or 2, thread_name_prefix="experiment")
        self._asked: dict[Experiment, Future[Totals]] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.shutdown(cancel_futures=True)
        self._folder.cleanup()

    @property
    def count(self) -> int:
        """How many different experiments were asked for."""
        return len(self._asked)

    def run(self, script: str, on: str, users: int = 1, seed: int = 1, **others: Any) -> Totals:
        """What `users` who type `script` on the machine `on` come to; `others` are those of `Experiment`.

        Raises what `loadgo.run` raises.
        """
        return self.runs([Experiment(script, on, users, seed, **others)])[0]

    def runs(self, experiments: Iterable[Experiment]) -> list[Totals]:
        """The totals of all `experiments`, in their order; as many at a time as there are processors.

        Providers call it themselves, one after the other: it must not be called from within an experiment.
        """
        return [asked.result() for asked in [self._ask(experiment) for experiment in experiments]]

    def _ask(self, experiment: Experiment) -> Future[Totals]:
        with self._lock:
            if experiment not in self._asked:
                place = Path(self._folder.name) / f"{len(self._asked):04}"
                self._asked[experiment] = self._workers.submit(_done, experiment, place)
            return self._asked[experiment]


def _done(experiment: Experiment, place: Path) -> Totals:
    from loadgo.records.tables import tables
    from loadgo.running.run import run

    told = {name: getattr(experiment, name) for name in ("passes", "duration", "think", "warm_up", "until", "arrivals")}
    options: dict[str, Any] = {name: value for name, value in told.items() if value is not None}
    if experiment.set:
        options["set"] = experiment.set
    script = _script(experiment.script, place)
    done = run(script, on=experiment.on, users=experiment.users, seed=experiment.seed, out=place, **options)
    return totals_of(tables(done))


def _script(script: str, place: Path) -> str | Path:
    """The script as `loadgo.run` takes it: a text of several lines is written beside the run's folder."""
    if "\n" not in script:
        return script
    path = place.with_suffix(".toml")
    path.write_text(script, encoding="utf-8")
    return path
