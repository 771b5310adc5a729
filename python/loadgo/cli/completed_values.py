"""The words that a shell offers for an argument at the Tab key: bundled scripts and machines, formats, recorded runs.

Where nothing here begins as the word does, the shell offers files.
"""

from __future__ import annotations

REQUEST_VARIABLE = "_LOADGO_COMPLETE"
"""The variable that a shell sets when it asks loadgo for the words that may come next."""


def script_completions(incomplete: str) -> list[str]:
    """The bundled scripts whose names begin so."""
    from loadgo.running.bundled import script_names

    return [name for name in script_names() if name.startswith(incomplete)]


def machine_completions(incomplete: str) -> list[str]:
    """The bundled machines whose names begin so."""
    from loadgo.running.machines import machine_names

    return [name for name in machine_names() if name.startswith(incomplete)]


def schema_completions(incomplete: str) -> list[str]:
    """The formats whose names begin so."""
    from loadgo.schemas.formats import schema_names

    return [name for name in schema_names() if name.startswith(incomplete)]


def run_completions(incomplete: str) -> list[str]:
    """The runs below the folder of all runs, by name, and then `last`, as far as they begin so. Reads no run."""
    from loadgo.records.runs import LAST_RUN_NAME, runs_folder

    names = [*sorted(path.parent.name for path in runs_folder().glob("*/run.toml")), LAST_RUN_NAME]
    return [name for name in names if name.startswith(incomplete)]
