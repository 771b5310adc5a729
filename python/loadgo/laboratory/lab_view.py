"""The answers of a laboratory to its page: the list of runs, documents of runs, and notes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loadgo.errors import BadArgument, BadRun
from loadgo.laboratory.history import HISTORY_ORDERS, history_in, parsed_figure
from loadgo.laboratory.laboratory_runs import (
    LaboratoryExperiment,
    LaboratoryRun,
    link_out,
    link_out_of_experiment,
    readable,
)
from loadgo.laboratory.run_index import RunIndex
from loadgo.laboratory.run_notes import RunNotes, read_notes, write_notes
from loadgo.measures.fail_if import format_figure
from loadgo.measures.run_remarks import CELL_MEANINGS
from loadgo.notation.comparisons import NamedFigure
from loadgo.notation.figures import NOT_MEASURED

HEADLINE_FIGURE = NamedFigure("p90", "time", None)
"""The figure of each run in the list."""
_NO_P90_MEANING = "no p90, since there was no load, or fewer than 10 answers"


@dataclass
class LaboratoryView:
    """The runs of a folder as a page shows them. Documents are made one at a time, since each may take seconds."""

    index: RunIndex
    _making: threading.Lock = field(default_factory=threading.Lock)
    _writing: threading.Lock = field(default_factory=threading.Lock)
    """Notes are written one at a time, also where a folder cannot be locked."""

    def listed(self) -> dict[str, Any]:
        """The list of runs and experiments, in JSON's types."""
        index = self.index
        return {
            "folder": readable(str(index.folder)),
            "revision": self.revision,
            "reading": len(index.without_figures()),
            "runs": [self._row(run) for run in index.runs],
            "experiments": [{"name": one.name, "kind": one.kind} for one in index.experiments],
            "commands": self._commands(),
            "meanings": {**CELL_MEANINGS, NOT_MEASURED: _NO_P90_MEANING},
        }

    @property
    def revision(self) -> str:
        """A text that differs when the list does, but for notes of another laboratory."""
        return f"{self.index.revision}-{len(self.index.without_figures())}"

    def _commands(self) -> list[str]:
        known = (self.index.known_figures(run) for run in self.index.runs)
        return sorted({name for figures in known if figures is not None for name in figures.commands})

    def _row(self, run: LaboratoryRun) -> dict[str, Any]:
        figures = None if run.damage else self.index.known_figures(run)
        p90_ns = None if figures is None else figures.value(HEADLINE_FIGURE)
        damage = run.damage or ("" if figures is None else figures.damage)
        notes = RunNotes() if run.damage else read_notes(run.folder)
        return {
            "name": run.name,
            "experiment": run.experiment,
            "script": run.script,
            "system": run.system,
            "host": run.host,
            "users": run.users,
            "started": None if run.started is None else run.started.isoformat(),
            "version": run.version,
            "kernel": run.kernel,
            "outcome": "broken" if damage else run.outcome,
            "damage": damage,
            "unfit": "" if figures is None else figures.unfit,
            "remarks": "" if figures is None else figures.remarks,
            "p90_ns": p90_ns if p90_ns is not None and p90_ns != float("inf") else None,
            "p90": _p90_in_words(p90_ns, is_read=figures is not None and not damage),
            "tags": notes.tags,
            "note": notes.text,
            "mark": notes.mark,
            "notes_damage": notes.damage,
        }

    def report(self, name: str) -> str:
        """The report of a run as an HTML page."""
        from loadgo.reporting.report import report

        folder = self._run(name).folder
        with self._making:
            return str(report(folder, format="html"))

    def comparison(self, a: str, b: str) -> str:
        """The comparison of two runs as an HTML page."""
        from loadgo.comparison.compare import compare

        sides = self._run(a).folder, self._run(b).folder
        with self._making:
            return str(compare(*sides).report("html"))

    def experiment(self, name: str) -> str:
        """The document of a stored experiment as an HTML page."""
        from loadgo.laboratory.stored_experiments import stored_document

        return stored_document(self._experiment(name))

    def history(self, figure: str, by: str, like: str, since: str) -> str:
        """The history of a figure as an HTML page."""
        order = next((known for known in HISTORY_ORDERS if known == by), None)
        if order is None:
            raise BadArgument(f"by: write one of {', '.join(HISTORY_ORDERS)}")
        past = history_in(self.index, parsed_figure(figure), by=order, like=like or None, since=since or None)
        with self._making:
            return str(past.report("html"))

    def write_notes(self, name: str, given: Mapping[str, Any]) -> RunNotes:
        """Writes the tags and the note of a run."""
        with self._writing:
            return write_notes(self._run(name).folder, given)

    def notes(self, name: str) -> RunNotes:
        """The tags and the note of a run."""
        return read_notes(self._run(name).folder)

    def _run(self, name: str) -> LaboratoryRun:
        """The run called `name`, if it may be opened. Links are looked for again, since a folder changes."""
        run = self.index.run(name)
        if run is None:
            raise BadRun(f"there is no run {name} in {self.index.folder}")
        damage = run.damage or link_out(run.folder, self.index.folder.resolve())
        if damage:
            raise BadRun(f"{name}: {damage}")
        return run

    def _experiment(self, name: str) -> LaboratoryExperiment:
        known = next((one for one in self.index.experiments if one.name == name), None)
        if known is None:
            raise BadRun(f"there is no experiment {name} in {self.index.folder}")
        damage = link_out_of_experiment(known.folder, self.index.folder.resolve())
        if damage:
            raise BadRun(f"{name}: {damage}")
        return known


def _p90_in_words(p90_ns: float | None, *, is_read: bool) -> str:
    """The p90 of a run; a dash for a run that has none, and nothing for a run that is not read yet."""
    if p90_ns is None:
        return NOT_MEASURED if is_read else ""
    return format_figure(p90_ns, HEADLINE_FIGURE.dimension)
