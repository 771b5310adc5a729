"""Writes the files of an observation: its script, and beside it the figures. What cannot be written is said."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from loadgo.errors import NotWritten, Refused, error_in_words
from loadgo.observation.figures_file import KeptFigures, figures_bytes, figures_path
from loadgo.observation.results import Observation
from loadgo.running.record import write_private, write_private_bytes

_WHAT = "table of figures"


def written_observation(observation: Observation, path: Path, figures: KeptFigures | None, force: bool) -> Observation:
    """Writes the script into `path`, and the figures beside it. The result has the figures' place, and their loss.

    Raises `Refused` or `NotWritten` for a script that cannot be written. Its text says where the figures are then.
    """
    try:
        write_private(path, observation.text, force)
    except Refused as refusal:
        _, loss = _place_of_figures(path, figures, force)
        if not loss:
            raise
        text = f"{refusal}. {loss}"
        raise (NotWritten(text, refusal.text) if isinstance(refusal, NotWritten) else Refused(text)) from refusal
    place, loss = _place_of_figures(path, figures, force)
    return replace(observation, figures=place, warnings=(*observation.warnings, *([loss] if loss else [])))


def _place_of_figures(path: Path, figures: KeptFigures | None, force: bool) -> tuple[Path | None, str]:
    """Writes the figures. The second value is a sentence if they are not in their own place."""
    if figures is None:
        return None, ""
    content, place = figures_bytes(figures), figures_path(path)
    try:
        write_private_bytes(place, content, force, _WHAT)
    except Refused as refusal:
        return None, f"{refusal}."
    except OSError as error:
        reason = f"{place} cannot be written ({error_in_words(error)})"
    else:
        return place, ""
    elsewhere = _written_elsewhere(place.name, content)
    if elsewhere is None:
        return None, f"{reason}: the figures are lost, and no run can be compared with them."
    return elsewhere, f"{reason}: the figures are in {elsewhere} instead."


def _written_elsewhere(name: str, content: bytes) -> Path | None:
    """A temporary file with the content; None if that has no room either."""
    try:
        with tempfile.NamedTemporaryFile(prefix="loadgo-", suffix=f".{name}", delete=False) as file:
            path = Path(file.name)
            try:
                file.write(content)
                file.flush()
            except OSError:
                path.unlink()
                return None
    except OSError:
        return None
    return path
