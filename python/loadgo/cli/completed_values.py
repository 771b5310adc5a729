"""The words that a shell offers for an argument at the Tab key: bundled scripts, bundled machines, recorded runs.

Where nothing here begins as the word does, the shell offers files.
"""

from __future__ import annotations


def script_completions(incomplete: str) -> list[str]:
    """The bundled scripts whose names begin so."""
    from loadgo.running.bundled import script_names

    return [name for name in script_names() if name.startswith(incomplete)]


def machine_completions(incomplete: str) -> list[str]:
    """The bundled machines whose names begin so."""
    from loadgo.running.machines import machine_names

    return [name for name in machine_names() if name.startswith(incomplete)]


def run_completions(incomplete: str) -> list[str]:
    """`last` and the runs below the folder of all runs whose names begin so, the newest last. Reads no run."""
    from loadgo.records.runs import LAST_RUN_NAME, runs_folder

    names = [*sorted(path.parent.name for path in runs_folder().glob("*/run.toml")), LAST_RUN_NAME]
    return [name for name in names if name.startswith(incomplete)]
