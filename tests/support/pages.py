"""The HTML pages of the commands, written as files, for tests in a browser."""

from __future__ import annotations

from pathlib import Path

import loadgo
from loadgo.cli.app import app
from loadgo.laboratory.history import history_in, parsed_figure
from loadgo.laboratory.run_index import RunIndex
from loadgo.measures.summary import summarize
from loadgo.profiling.profile import Frame, Profile, Segment, Stack
from loadgo.published.catalogue import document
from loadgo.reporting.report import render
from loadgo.reproduction.models.values import Area, Plot, PlottedCurve
from loadgo.reproduction.reproduce import Reproduction, judge_document
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.prices import prices
from loadgo.transfers.transfer import Transferred
from typer.testing import CliRunner

from support import fitted_machine
from support.capacity_results import capacity_of
from support.known_capacity import exacts
from support.made_laboratory import made_runs, scattered
from support.places import TESTS
from support.printed_values import as_printed
from support.sweeps import LastFirst, own_load_grid
from support.synthetic_meters import metered_host
from support.transfer_rows import rounds
from support.transfer_tables import COLUMNS, SEED

PAGES = (
    "report", "report-of-a-machine", "compare", "capacity", "fit", "cost", "profile", "doctor", "transfer",
    "transfers", "reproduce", "sweep", "history", "verify", "cost-against",
)  # fmt: skip

_MAIN, _WORK = Frame("/usr/bin/prime", "main"), Frame("/usr/bin/prime", "divide<int>(long)")
_PROFILE = Profile(
    of="prime 1000",
    seconds=2.0,
    hz=1000,
    stacks=(Stack(None, None, "prime", (_MAIN, _WORK), 600), Stack(3, "compile", "cc1", (_MAIN,), 300)),
    segments=(Segment("/usr/bin/prime", 600, 40, 2), Segment("[heap]", 0, 1000, 0)),
    build_ids={},
)


def _reproduction() -> Reproduction:
    """Two documents, with models that give 4 % more than what is printed; the first has a chart with long names."""
    curves = tuple(
        PlottedCurve(f"{name}, with records and blocks in them too", ((0.0, level), (260.0, level + 4)))
        for name, level in (("as it was", 12.0), ("bytes of 32 bits", 14.0))
    )
    areas = (Area("potential area of operation in 10/69", 0, 40, 10, 16), Area("area of operation", 220, 260, 10, 12))
    plot = Plot("users-by-faults", "mpl-16", "Users by faults", "faults a command", "users", curves, areas, "made up")
    chosen = [(document("mpl-16"), (plot,)), (document("csr-rfc-20"), ())]
    judged = tuple(judge_document(printed, as_printed(printed, 1.04), plots) for printed, plots in chosen)
    return Reproduction(judged, 0, 1.0)


def _history(folder: Path) -> loadgo.History:
    """A history with a change, over a few made runs."""
    made_runs(folder, scattered([(7, 1.0), (5, 1.5)]), passes=3)
    index = RunIndex(folder, None)
    index.look()
    index.read_all()
    return history_in(index, parsed_figure("p90(compile)"), by="version")


def _sweep(folder: Path) -> loadgo.Sweep:
    """A machine with two settings and three numbers of users, under its own load."""
    folder.mkdir()
    with LastFirst() as executor:
        return loadgo.sweep(own_load_grid(folder), executor=executor, out=folder / "swept")


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
        "transfer": Transferred(tuple(rounds(4)), (), False).report("html"),
        "transfers": taken_apart(read_table(SEED, COLUMNS), prices("cloud")).report("html"),
        "reproduce": _reproduction().report("html"),
        "sweep": _sweep(folder / "grid").report("html"),
        "history": _history(folder / "runs").report("html"),
        "verify": loadgo.verify(TESTS / "runs" / "reported" / "live-exact").report("html"),
    }
    commands = {
        "compare": ("compare", f"{folder / 'n4'}", f"{folder / 'n8'}", "-o"),
        "cost": ("cost", f"{folder / 'n4'}", f"{folder / 'n8'}", "-o"),
        "cost-against": ("cost", f"{folder / 'n4'}", "--against", f"{folder / 'n8'}", "-o"),
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
