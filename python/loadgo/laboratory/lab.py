"""A laboratory: a page over a folder of runs, and the thread that keeps its list up to date."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from loadgo.errors import BadRun
from loadgo.laboratory.lab_view import LaboratoryView
from loadgo.laboratory.run_index import RunIndex, found_index
from loadgo.laboratory.server import application
from loadgo.notation.figures import counted
from loadgo.records.runs import runs_folder
from loadgo.serving.loopback import serve_page

_REFRESH_PERIOD_S = 5.0


class Laboratory:
    """The page over a folder of runs."""

    def __init__(self, index: RunIndex) -> None:
        self.index = index
        self._view = LaboratoryView(index)
        self._ended = threading.Event()

    def serve(self, announce: Callable[[str], None], port: int = 0) -> None:
        """Serves the page until an interrupt. `announce` is called with a sentence that has its address.

        Raises `Refused` if the port cannot be used.
        """
        reading = threading.Thread(target=self._keep_up, name="loadgo-laboratory", daemon=True)
        reading.start()
        try:
            serve_page(
                lambda token, at, _: application(self._view, token, at),
                port,
                lambda url: announce(
                    f"the laboratory of {counted(len(self.index.runs), 'run')} is at {url} (Ctrl-C ends it)"
                ),
            )
        finally:
            self._ended.set()
            reading.join()
            self.index.save()

    def _keep_up(self) -> None:
        """Reads new runs and then their figures, the newest first, and looks for further runs, until the end."""
        while not self._ended.is_set():
            while self.index.read_some() and not self._ended.is_set():
                pass
            for run in self.index.without_figures():
                if self._ended.is_set():
                    return
                self.index.figures(run)
            self.index.save()
            self._ended.wait(_REFRESH_PERIOD_S)
            try:
                self.index.look()
            except BadRun:
                continue


def lab(runs: str | os.PathLike[str] | None = None) -> Laboratory:
    """The laboratory's page over a folder of runs.

        loadgo.lab("runs").serve(print)

    Args:
        runs: The folder of runs. By default `$LOADGO_RUNS`, or `runs` in the current folder.

    Returns:
        A `Laboratory`. Its `serve(announce, port)` serves the page on loopback until an interrupt, and calls `announce`
        with its address.

    Raises:
        loadgo.errors.BadRun: The folder cannot be read.

    The page runs nothing and uploads nothing. It writes only tags and notes, to `notes.json` in a run's folder.
    """
    return Laboratory(found_index(Path(runs) if runs is not None else runs_folder()))
