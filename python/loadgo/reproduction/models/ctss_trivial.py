"""Our figures for "CTSS Performance on trivial requests" (`ctss-trivial`), from runs of the bundled machines."""

from __future__ import annotations

import math

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import machine_number, processor_price
from loadgo.reproduction.models.scripts import script_from_command
from loadgo.reproduction.models.totals import RunTotals
from loadgo.reproduction.models.values import Plot, ReproducedValue, ReproducedValues

LIGHT_LOAD_USERS, FULL_LOAD_USERS = 10, 19
"""The numbers of users between which the document measured."""
DIRECTORY_READS, RECORD_WORDS = 2, 432
"""Assumed: a search reads one record of the master's directory of files, and one of the user's directory."""
BEST_CASE_PAGES = 3
"""Size of the program and its machine conditions in the best case on Multics."""

CALCULATOR_LINES = 40
THINK_LAW = "exponential(8s, max 60s)"


def reproduced_values(lab: Lab) -> ReproducedValues:
    """Our figures by the ids of the printed figures, without those that follow by arithmetic."""
    light, full, multics = lab.runs(
        [
            Experiment(
                script_from_command("compute", think=THINK_LAW, repeat=CALCULATOR_LINES), "ctss", LIGHT_LOAD_USERS
            ),
            Experiment(
                script_from_command("compute", think=THINK_LAW, repeat=CALCULATOR_LINES), "ctss", FULL_LOAD_USERS
            ),
            Experiment(script_from_command("compute", repeat=CALCULATOR_LINES), "multics-1.8"),
        ]
    )
    values = {**_ctss(light, full), **_multics_forecast(), **_multics(multics)}
    return {f"ctss-trivial/{name}": value for name, value in values.items()}


def reproduced_plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts of which the document prints only the axes."""
    return ()


def _ctss(light: RunTotals, full: RunTotals) -> dict[str, ReproducedValue]:
    swap_ms = 1000 * (_later_swap_s(light) + _later_swap_s(full)) / 2
    cpu_ms = 1000 * light.commands["compute"].cpu_s
    first_ms, searched_ms = (1000 * time_s for time_s in _first_swap_s())
    how = f"users with the calculator on `ctss`, {LIGHT_LOAD_USERS} and {FULL_LOAD_USERS} of them"
    swap = ReproducedValue(
        swap_ms, "predicted", f"{how}: the time in which the program is moved out and in, the first time left out"
    )
    charged = [cpu_ms / 1000 + _later_swap_s(run) for run in (light, full)]
    return {
        "summary/swap/value": swap,
        "text/swap": swap,
        "text/swap-again": swap,
        "summary/first-recent/value": ReproducedValue(
            first_ms,
            "predicted",
            "dumping the core onto the drum, a mean access to the disk, and reading the image",
        ),
        "summary/first-search/value": ReproducedValue(
            searched_ms, "predicted", "the same with two reads of the disk for the directory, each with its seek"
        ),
        "text/total": ReproducedValue(swap_ms + cpu_ms, "predicted", f"{how}: swap and processor time"),
        "text/cost": ReproducedValue(
            100 * processor_price("ctss", (swap_ms + cpu_ms) / 1000),
            "fitted",
            "the tariff of `ctss` was set by this cent",
        ),
        "text/first-cost": ReproducedValue(
            100 * processor_price("ctss", (searched_ms + cpu_ms) / 1000),
            "predicted",
            "the first interaction, at that tariff",
        ),
        "text/variation": ReproducedValue(
            100 * abs(charged[1] / charged[0] - 1),
            "predicted",
            f"what is charged with {FULL_LOAD_USERS} users over that with {LIGHT_LOAD_USERS}",
        ),
    }


def _multics_forecast() -> dict[str, ReproducedValue]:
    """The best case on the 645: the same number of instructions, and one request for all pages."""
    rates = [machine_number(machine, "processors.instructions_per_second") for machine in ("ctss", "multics-645")]
    cpu_ms = machine_number("ctss", "commands.compute.cpu") * 1000 * rates[0] / rates[1]
    revolution_ms = machine_number("multics-645", "storage.drum.revolution") * 1000
    sectors = machine_number("multics-645", "storage.drum.sectors")
    core_ms = revolution_ms * (BEST_CASE_PAGES / (BEST_CASE_PAGES + 1) + 1 / sectors)
    words = machine_number("ctss", "commands.compute.image_words") + machine_number("ctss", "memory.conditions_words")
    core_words = machine_number("multics-645", "memory.frames") * machine_number("multics-645", "memory.frame_words")
    core_how = f"{BEST_CASE_PAGES} pages requested at once: the drum has read them after 3/4 revolution and a sector"
    tied_words = 3000
    ctss_ms = 145 + 12  # swapping and processor time, as printed
    return {
        "text/multics-cpu": ReproducedValue(
            cpu_ms, "predicted", "CTSS's 12 ms at the two processors' instructions a second"
        ),
        "text/multics-core-time": ReproducedValue(core_ms, "predicted", core_how),
        "text/multics-core-words": ReproducedValue(
            math.ceil(words / 1024) * 1024,
            "predicted",
            "the image and the machine conditions in whole pages of 1024 words",
        ),
        "text/multics-core-share": ReproducedValue(
            100 * tied_words / (core_words / 2), "predicted", "3000 words of one of the 645's two boxes of core (128K)"
        ),
        "text/improvement": ReproducedValue(
            ctss_ms / (cpu_ms * 0.2 + core_ms * tied_words / (core_words / 2)),
            "predicted",
            "CTSS's 157 ms over ours, with the processor at its 20 % of the machine's price, as in the document",
        ),
    }


def _multics(run: RunTotals) -> dict[str, ReproducedValue]:
    used_ms = 1000 * run.commands["compute"].cpu_s
    return {
        "text/with-faults": ReproducedValue(
            used_ms, "predicted", "the calculator on `multics-1.8`: processor time with page faults"
        )
    }


def _later_swap_s(run: RunTotals) -> float:
    """The mean time that moving the program took, without each user's first interaction."""
    later = [use for (_, line), use in run.lines.items() if line > 1]
    return sum(use.paging_wait_s * use.count for use in later) / sum(use.count for use in later)


def _first_swap_s() -> tuple[float, float]:
    """The time to dump the core onto the drum and to read the image from the disk, without and with a search."""
    words, conditions = (
        machine_number("ctss", f"{key}_words") for key in ("commands.compute.image", "memory.conditions")
    )
    drum, disk = (f"storage.{name}" for name in ("drum", "disk"))
    dump_s = machine_number("ctss", f"{drum}.revolution") / 2 + (words + conditions) / machine_number(
        "ctss", f"{drum}.words_per_second"
    )
    access_s = machine_number("ctss", f"{disk}.seek") + machine_number("ctss", f"{disk}.revolution") / 2
    rate = machine_number("ctss", f"{disk}.words_per_second")
    first_s = dump_s + access_s + words / rate
    return first_s, first_s + DIRECTORY_READS * (access_s + RECORD_WORDS / rate)
