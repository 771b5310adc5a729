"""The folder that a run is written to: the given one, or a new folder among all runs."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path


def new_folder(out: str | Path | None, name: str, now: datetime) -> Path:
    """Returns `out` if it is given, else the path of a new folder, named for the moment `now` and for `name`."""
    if out is not None:
        return Path(out)
    from loadgo.records.runs import runs_folder

    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "script"
    first = runs_folder() / f"{now:%Y-%m-%dT%H-%M-%S}-{slug}"
    numbered = (first.with_name(f"{first.name}-{number}") for number in range(2, 1000))
    return first if not first.exists() else next(folder for folder in numbered if not folder.exists())
