"""The words of a sweep: figures without a time, and the conditions of its simulations."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import loadgo
from loadgo.sweeping.results import Configuration, Sweep, SweepFigure
from loadgo.sweeping.words import answer, axes_in_words
from support.sweeps import LastFirst, own_load_grid


def _with_p90(users: int, speed: str, values: list[float]) -> Configuration:
    never = sum(map(math.isinf, values))
    figures = {
        "p90": SweepFigure(sum(values) / len(values), None, len(values), never),
        "errors": SweepFigure(0.087, None, 4),
    }
    return Configuration("multics-645", {"processors.speed": speed}, users, len(values), 0, figures)


def test_a_figure_without_a_time_says_in_how_many_simulations_and_the_answer_where() -> None:
    inf = math.inf
    rows = (
        _with_p90(4, "1", [40.0, 50.0, 45.0, 55.0]),
        _with_p90(16, "1", [90.0, 80.0, 85.0, inf]),
        _with_p90(20, "1", [inf] * 4),
        _with_p90(20, "2", [inf, inf, 1.0, 1.0]),
    )
    swept = Sweep(Path("out"), "", "typical-user", "p90", "", 16, 16, rows, (), conditions="4 seeds each")
    sentence = answer(swept)
    assert sentence == (
        "16 simulations (4 configurations, 4 seeds each: processors.speed 1 and 2; users 4, 16 and 20): p90 of the "
        "response is lowest, 47.5 s with 4 users at processors.speed=1; there is no p90 with "
        "16 and 20 users at processors.speed=1 and with 20 users at processors.speed=2, where too many lines "
        "had no answer."
    )
    text = replace(swept, in_words=sentence).report(width=100)
    cells = [" ".join(line.split()) for line in text.splitlines()]
    assert any(line.startswith("1 16 4 never in 1 of 4 simulations") for line in cells)
    assert any(line.startswith("1 20 4 never in 4 of 4 simulations") for line in cells)
    assert "typical-user on multics-645 (simulated); 4 seeds each" in cells
    assert "The mean leaves out lines without an answer" in " ".join(cells)


def test_a_sweeps_text_says_that_it_is_simulated_with_which_seeds_and_until_when(tmp_path: Path) -> None:
    swept = loadgo.sweep(own_load_grid(tmp_path), executor=LastFirst(1), out=tmp_path / "out")
    text = " ".join(str(swept.report(width=100)).split())
    assert "repairman.toml (simulated), without a script; 4 seeds each, until interactions=1000" in text
    assert "Errors" not in text


def test_the_axes_of_a_sweep_are_named_with_their_range() -> None:
    def at(machine: str, users: int, speed: str, seeds: int = 1) -> Configuration:
        return Configuration(machine, {"processors.speed": speed, "memory.frames": "256"}, users, seeds, 0, {})

    assert axes_in_words([at("a", count, "1") for count in (8, 2, 4, 6)]) == "users 2 to 8, 4 values"
    assert axes_in_words([at("a", 2, "1"), at("b", 2, "2")]) == "machines a and b; processors.speed 1 and 2"
    assert axes_in_words([at("a", 2, "1")]) == axes_in_words([]) == ""
