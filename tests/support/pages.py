"""The HTML pages of the commands, written as files, for tests in a browser."""

from __future__ import annotations

from pathlib import Path

import loadgo
from loadgo.cli.app import app
from loadgo.measures.summary import summarize
from loadgo.profiling.profile import Frame, Profile, Segment, Stack
from loadgo.reporting.report import render
from typer.testing import CliRunner

from support import fitted_machine
from support.capacity_results import capacity_of
from support.known_capacity import exacts
from support.places import TESTS
from support.synthetic_meters import metered_host

PAGES = ("report", "report-of-a-machine", "compare", "capacity", "fit", "cost", "profile", "doctor")

_MAIN, _WORK = Frame("/usr/bin/prime", "main"), Frame("/usr/bin/prime", "divide<int>(long)")
_PROFILE = Profile(
    of="prime 1000",
    seconds=2.0,
    hz=1000,
    stacks=(Stack(None, None, "prime", (_MAIN, _WORK), 600), Stack(3, "compile", "cc1", (_MAIN,), 300)),
    segments=(Segment("/usr/bin/prime", 600, 40, 2), Segment("[heap]", 0, 1000, 0)),
    build_ids={},
)


def written_pages(folder: Path) -> dict[str, Path]:
    """The file of each page by its name, in `PAGES`."""
    script, machine = fitted_machine.laid(folder)
    for users in (4, 8):
        loadgo.run(script, on=machine, users=users, draws=0, out=folder / f"n{users}")
    measured = metered_host()
    rendered_pages = {
        "report": render(summarize(measured), measured, "html"),
        "report-of-a-machine": loadgo.report(TESTS / "runs" / "reported" / "sim-645", format="html"),
        "capacity": capacity_of(exacts(5, 15, 30, 34, 36, 40)).report("html"),
        "profile": _PROFILE.report("html"),
    }
    commands = {
        "compare": ("compare", f"{folder / 'n4'}", f"{folder / 'n8'}", "-o"),
        "cost": ("cost", f"{folder / 'n4'}", f"{folder / 'n8'}", "-o"),
        "fit": ("fit", f"{TESTS / 'runs' / 'reported' / 'live-exact'}", "-o", f"{folder / 'machine.toml'}", "--report"),
        "doctor": ("doctor", "-o"),
    }
    paths = {name: folder / f"{name}.html" for name in PAGES}
    for name, page in rendered_pages.items():
        paths[name].write_text(str(page))
    for name, words in commands.items():
        result = CliRunner().invoke(app, [*words, f"{paths[name]}", "--format", "html"])
        assert paths[name].is_file(), result.output
    return paths
