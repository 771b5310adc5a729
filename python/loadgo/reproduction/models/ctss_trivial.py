"""Our figures for "CTSS Performance on trivial requests" (`ctss-trivial`), from runs of the bundled machines."""

from __future__ import annotations

import math

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import number, priced
from loadgo.reproduction.models.scripts import of_command
from loadgo.reproduction.models.totals import Totals
from loadgo.reproduction.models.values import Plot, Value, Values

LIGHT, FULL = 10, 19
"""The loads between which the document's measurements were made."""
DIRECTORIES, RECORD_WORDS = 2, 432
"""A search reads a record of the master's and one of the user's directory of files (assumed)."""
BEST_PAGES = 3
"""The program and its machine conditions, in pages."""

INTERACTIONS = 40
THINK = "exponential(8s, max 60s)"


def provide(lab: Lab) -> Values:
    """Our figures by the ids of the printed ones; those that need no run are in `arithmetic`."""
    light, full, multics = lab.runs(
        [
            Experiment(of_command("compute", think=THINK, repeat=INTERACTIONS), "ctss", LIGHT),
            Experiment(of_command("compute", think=THINK, repeat=INTERACTIONS), "ctss", FULL),
            Experiment(of_command("compute", repeat=INTERACTIONS), "multics-1.8"),
        ]
    )
    return _named({**_ctss(light, full), **_hopes(), **_multics(multics)})


def plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts that the document has only as axes."""
    return ()


def _ctss(light: Totals, full: Totals) -> dict[str, Value]:
    swap_ms = 1000 * (_later_swap_s(light) + _later_swap_s(full)) / 2
    cpu_ms = 1000 * light.commands["compute"].cpu_s
    first_ms, searched_ms = (1000 * time_s for time_s in _first_s())
    ran = f"users with the calculator on `ctss`, {LIGHT} and {FULL} of them"
    swap = Value(
        swap_ms, "predicted", f"{ran}: the time in which the program is moved out and in, the first time left out"
    )
    charged = [cpu_ms / 1000 + _later_swap_s(run) for run in (light, full)]
    return {
        "summary/swap/value": swap,
        "text/swap": swap,
        "text/swap-again": swap,
        "summary/first-recent/value": Value(
            first_ms,
            "predicted",
            "what is in core dumped onto the drum, a mean access to the disk, and the image's words",
        ),
        "summary/first-search/value": Value(
            searched_ms, "predicted", "the same with two reads of the disk for the directory, each with its seek"
        ),
        "text/total": Value(swap_ms + cpu_ms, "predicted", f"{ran}: swap and processor time"),
        "text/cost": Value(
            100 * priced("ctss", (swap_ms + cpu_ms) / 1000), "fitted", "the tariff of `ctss` was set by this cent"
        ),
        "text/first-cost": Value(
            100 * priced("ctss", (searched_ms + cpu_ms) / 1000), "predicted", "the first interaction, at that tariff"
        ),
        "text/variation": Value(
            100 * abs(charged[1] / charged[0] - 1),
            "predicted",
            f"what is charged with {FULL} users over that with {LIGHT}",
        ),
    }


def _hopes() -> dict[str, Value]:
    """What the 645 should do in the best situation: the same instructions, and all pages asked for at once."""
    rates = [number(machine, "processors.instructions_per_second") for machine in ("ctss", "multics-645")]
    cpu_ms = number("ctss", "commands.compute.cpu") * 1000 * rates[0] / rates[1]
    revolution_ms = number("multics-645", "storage.drum.revolution") * 1000
    sectors = number("multics-645", "storage.drum.sectors")
    core_ms = revolution_ms * (BEST_PAGES / (BEST_PAGES + 1) + 1 / sectors)
    words = number("ctss", "commands.compute.image_words") + number("ctss", "memory.conditions_words")
    core_words = number("multics-645", "memory.frames") * number("multics-645", "memory.frame_words")
    at_once = f"{BEST_PAGES} pages asked of the drum at once: the last comes after 3/4 of a revolution and a sector"
    tied_words = 3000
    swap_ms = 145 + 12
    return {
        "text/multics-cpu": Value(cpu_ms, "predicted", "CTSS's 12 ms at the two processors' instructions a second"),
        "text/multics-core-time": Value(core_ms, "predicted", at_once),
        "text/multics-core-words": Value(
            math.ceil(words / 1024) * 1024,
            "predicted",
            "the image and the machine conditions in whole pages of 1024 words",
        ),
        "text/multics-core-share": Value(
            100 * tied_words / (core_words / 2), "predicted", "3000 words of one of the 645's two boxes of core (128K)"
        ),
        "text/improvement": Value(
            swap_ms / (cpu_ms * 0.2 + core_ms * tied_words / (core_words / 2)),
            "predicted",
            "157 ms of all of CTSS over ours at the document's share of the machine's price for the processor (20 %)",
        ),
    }


def _multics(run: Totals) -> dict[str, Value]:
    used_ms = 1000 * run.commands["compute"].cpu_s
    return {
        "text/with-faults": Value(
            used_ms, "predicted", "the calculator on `multics-1.8`: processor time with page faults"
        )
    }


def _later_swap_s(run: Totals) -> float:
    """The mean time that moving the program took, but for each user's first interaction."""
    later = [use for (_, line), use in run.lines.items() if line > 1]
    return sum(use.paging_wait_s * use.count for use in later) / sum(use.count for use in later)


def _first_s() -> tuple[float, float]:
    """Dumping what is in core onto the drum and bringing the image in from the disk; and that with a search before."""
    words, conditions = (number("ctss", f"{key}_words") for key in ("commands.compute.image", "memory.conditions"))
    drum, disk = (f"storage.{name}" for name in ("drum", "disk"))
    dump_s = number("ctss", f"{drum}.revolution") / 2 + (words + conditions) / number(
        "ctss", f"{drum}.words_per_second"
    )
    access_s = number("ctss", f"{disk}.seek") + number("ctss", f"{disk}.revolution") / 2
    rate = number("ctss", f"{disk}.words_per_second")
    first_s = dump_s + access_s + words / rate
    return first_s, first_s + DIRECTORIES * (access_s + RECORD_WORDS / rate)


def _named(values: dict[str, Value]) -> Values:
    return {f"ctss-trivial/{name}": value for name, value in values.items()}
