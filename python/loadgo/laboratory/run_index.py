"""The index of a laboratory: what is known of its runs, in memory, and kept between commands in the user's cache.

A run is read again when its files change. The cache is only a shortcut: nothing is lost when it is removed or damaged.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from loadgo._loadgo import __version__
from loadgo.laboratory.laboratory_runs import (
    NOT_READ,
    FoundRun,
    LaboratoryExperiment,
    LaboratoryRun,
    Stamp,
    described,
    found_in,
    not_read_yet,
    run_as_json,
    run_from_json,
)
from loadgo.laboratory.run_figures import StoredFigures, figures_from_json, figures_of

INDEX_FORMAT = 2
"""The number of the cache's format. A cache of another version of loadgo is not read: its figures may differ."""
MOST_CACHE_BYTES = 256_000_000
"""Largest cache that is read. A thousand runs have some megabytes."""

_MOST_DESCRIPTIONS = 50
"""Largest number of descriptions that are read before others may ask for the list."""
_CHANGING_OUTCOMES = ("running", "killed")
"""Outcomes that change without a change of `run.toml`."""

Progress = Callable[[int, int], None]
"""Is called with the number of runs that were read, and the number of all runs to read."""


@dataclass
class RunIndex:
    """The runs of a laboratory, and the figures of those whose figures were asked for."""

    folder: Path
    cache: Path | None
    """The file that keeps the figures; None keeps them in memory only."""
    runs: tuple[LaboratoryRun, ...] = ()
    """All runs, the newest first. Then those that are not read yet, and broken ones come last."""
    experiments: tuple[LaboratoryExperiment, ...] = ()
    revision: int = 0
    """Grows when a run or an experiment is added, changed or removed."""
    _figures: dict[str, tuple[Stamp, StoredFigures]] = field(default_factory=dict)
    _stored: dict[str, Any] = field(default_factory=dict)
    """The cache as it was read, for the first look at the folder."""
    _unsaved: bool = False
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._stored = _read_cache(self.cache)
        self._figures = {name: figures for name, kept in self._stored.items() if (figures := _stored_figures(kept))}

    def look(self) -> None:
        """Looks for new, changed and removed runs, of which new ones are not read yet.

        Raises `BadRun` if the folder cannot be read.
        """
        with self._lock:
            known = {run.name: run for run in self.runs}
            found, experiments = found_in(self.folder)
            self._set([self._current(one, known.get(one.name)) for one in found], tuple(experiments))
            self._stored = {}
            names = {run.name for run in self.runs}
            self._figures = {name: stored for name, stored in self._figures.items() if name in names}

    def read_all(self) -> None:
        """Reads the `run.toml` of all runs that are not read yet."""
        while self.read_some():
            pass

    def read_some(self) -> int:
        """Reads the `run.toml` of the first runs that are not read yet. Returns how many are left."""
        with self._lock:
            # The names of runs begin with their dates.
            names = sorted((run.name for run in self.runs if run.outcome == NOT_READ), reverse=True)
            now = set(names[:_MOST_DESCRIPTIONS])
            if now:
                self._set([_read(run) if run.name in now else run for run in self.runs], self.experiments)
            return len(names) - len(now)

    def _set(self, runs: list[LaboratoryRun], experiments: tuple[LaboratoryExperiment, ...]) -> None:
        runs.sort(key=lambda run: (bool(run.damage), run.outcome == NOT_READ, -run.start_s, run.name))
        if (tuple(runs), experiments) != (self.runs, self.experiments):
            self.runs, self.experiments = tuple(runs), experiments
            self.revision += 1

    def _current(self, found: FoundRun, known: LaboratoryRun | None) -> LaboratoryRun:
        """A run as it is now. One that goes on, or was killed, is read again, since its outcome changes by itself."""
        if known is None:
            stored = None if found.damage else _stored_run(found, self._stored.get(found.name))
            return stored or (described(found) if found.damage else not_read_yet(found))
        is_same = known.stamp == found.stamp and bool(known.damage) == bool(found.damage)
        return known if is_same and known.outcome not in _CHANGING_OUTCOMES else described(found)

    def run(self, name: str) -> LaboratoryRun | None:
        """The run called `name`; None if there is none."""
        return next((run for run in self.runs if run.name == name), None)

    def known_figures(self, run: LaboratoryRun) -> StoredFigures | None:
        """The figures of a run, if they were read before and the run has not changed since."""
        stored = self._figures.get(run.name)
        return stored[1] if stored is not None and stored[0] == run.stamp else None

    def without_figures(self) -> list[LaboratoryRun]:
        """The runs whose figures are still to be read, in the order of `runs`."""
        return [run for run in self.runs if not run.damage and self.known_figures(run) is None]

    def figures(self, run: LaboratoryRun) -> StoredFigures:
        """The figures of a run, which are read if they are not known."""
        known = self.known_figures(run)
        if known is not None:
            return known
        figures = StoredFigures(damage=run.damage) if run.damage else figures_of(run.folder)
        with self._lock:
            self._figures[run.name] = run.stamp, figures
            self._unsaved = True
        return figures

    def read_figures(self, runs: tuple[LaboratoryRun, ...], progress: Progress | None = None) -> None:
        """Reads the figures of these runs that are not known yet, and saves the cache."""
        missing = [run for run in runs if self.known_figures(run) is None]
        for number, run in enumerate(missing, 1):
            self.figures(run)
            if progress is not None:
                progress(number, len(missing))
        self.save()

    def save(self) -> None:
        """Writes the cache if there is something new. Without permission or space the index stays in memory."""
        if self.cache is None or not self._unsaved:
            return
        with self._lock:
            members = {
                run.name: {"stamp": run.stamp, "run": run_as_json(run), **self._figures[run.name][1].as_json()}
                for run in self.runs
                if not run.damage and self.known_figures(run) is not None
            }
            self._unsaved = False
        with suppress(OSError):
            _write_cache(self.cache, {"format": INDEX_FORMAT, "loadgo": __version__, "runs": members})


def found_index(folder: Path) -> RunIndex:
    """The index of the laboratory in `folder`, whose new runs are not read yet.

    Raises `BadRun` if the folder cannot be read.
    """
    index = RunIndex(folder, _cache_file(folder))
    index.look()
    return index


def open_index(folder: Path) -> RunIndex:
    """The index of the laboratory in `folder`, with all its runs. Raises `BadRun` if the folder cannot be read."""
    index = found_index(folder)
    index.read_all()
    return index


def _read(run: LaboratoryRun) -> LaboratoryRun:
    """A run that was not read yet, from its `run.toml`."""
    return described(FoundRun(run.name, run.folder, run.stamp, run.damage))


def _cache_file(folder: Path) -> Path | None:
    """The cache of a laboratory in `$XDG_CACHE_HOME/loadgo`, by default `~/.cache/loadgo`."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(home):
        return None
    name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:24]
    return Path(home) / "loadgo" / f"laboratory-{name}.json"


def _read_cache(cache: Path | None) -> dict[str, Any]:
    """The entries of the cache by the names of runs; none from a cache that is damaged or of another version."""
    if cache is None:
        return {}
    try:
        if cache.stat().st_size > MOST_CACHE_BYTES:
            return {}
        members = json.loads(cache.read_bytes())
        is_same_version = (members["format"], members["loadgo"]) == (INDEX_FORMAT, __version__)
        return dict(members["runs"]) if is_same_version else {}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _stored_figures(kept: Any) -> tuple[Stamp, StoredFigures] | None:
    """The figures of a run in the cache, with the stamp of the run; None if they are damaged."""
    try:
        return tuple(map(int, kept["stamp"])), figures_from_json(kept)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _stored_run(found: FoundRun, kept: Any) -> LaboratoryRun | None:
    """A run as the cache has it; None if it is not there, has changed since, or did not end."""
    try:
        run = run_from_json(found, kept["run"]) if tuple(kept["stamp"]) == found.stamp else None
    except (ValueError, KeyError, TypeError):
        return None
    return None if run is None or run.outcome in _CHANGING_OUTCOMES else run


def _write_cache(cache: Path, members: dict[str, Any]) -> None:
    cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(cache, json.dumps(members, separators=(",", ":"), allow_nan=False).encode())


def write_whole(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Writes a file so that a reader finds the old content or the new one, also after a crash."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with open(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
