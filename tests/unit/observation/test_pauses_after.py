"""Think times by what was just done: differences are found where they are, noise is none, and the script types them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import loadgo
import numpy as np
import pytest
from loadgo.observation.classes import SessionClass
from loadgo.observation.pauses_after import FEWEST_COMMAND_PAUSES, FEWEST_PAUSES, think_patterns
from loadgo.observation.results import ThinkPattern
from loadgo.observation.sessions import CommandUse, ObservedSession
from support.accounting_records import EPOCH_S

NAMES = ("cat", "ls", "make")
MEANS_S = {"cat": 2.0, "ls": 2.0, "make": 30.0}
SECOND_NS = 1_000_000_000


def sessions(
    count: int, length: int, means_s: dict[str, float], *, seed: int = 1, spread_of_people: float = 0.0
) -> tuple[ObservedSession, ...]:
    """Sessions of commands drawn alike, with an exponential pause after each, by what it was."""
    random = np.random.default_rng(seed)
    drawn = []
    for person in range(count):
        pace = float(np.exp(spread_of_people * random.standard_normal()))
        names = [NAMES[place] for place in random.integers(0, 3, length)]
        pauses: list[int | None] = [None]
        pauses += [int(SECOND_NS * random.exponential(pace * means_s[name])) for name in names[:-1]]
        uses = tuple(CommandUse(name, think_ns=pause) for name, pause in zip(names, pauses, strict=True))
        drawn.append(ObservedSession(person, 0, 60, uses))
    return tuple(drawn)


def pattern_of(drawn: tuple[ObservedSession, ...]) -> ThinkPattern:
    (pattern,) = think_patterns((SessionClass("all", drawn),))
    return pattern


def test_think_times_that_differ_by_the_command_before_have_laws_of_their_own() -> None:
    pattern = pattern_of(sessions(20, 31, MEANS_S))
    assert pattern.pauses == 600
    assert pattern.p_value == pytest.approx(1 / 200)
    means_s = {row.command: row.mean_ns / SECOND_NS for row in pattern.commands}
    assert means_s == {name: pytest.approx(MEANS_S[name], rel=0.25) for name in NAMES}
    assert all(row.law.startswith("exponential(") for row in pattern.commands)


def test_people_who_think_for_longer_make_no_difference_by_command() -> None:
    found = [
        pattern_of(sessions(10, 31, dict.fromkeys(NAMES, 5.0), seed=seed, spread_of_people=1.0)) for seed in range(100)
    ]
    assert sum(bool(pattern.commands) for pattern in found) <= 5, "a level of 1 %"


def test_too_few_pauses_are_told_as_such() -> None:
    pattern = pattern_of(sessions(1, FEWEST_PAUSES, MEANS_S))
    assert (pattern.pauses, pattern.p_value, pattern.commands) == (FEWEST_PAUSES - 1, None, ())
    assert (
        think_patterns((SessionClass("all", (ObservedSession(0, 0, 60, (CommandUse("ls"), CommandUse("ls"))),)),)) == ()
    )


def test_a_rare_command_has_the_law_of_its_class() -> None:
    drawn = sessions(20, 31, MEANS_S)
    rare = tuple(CommandUse("vim", think_ns=SECOND_NS) for _ in range(FEWEST_COMMAND_PAUSES))
    pattern = pattern_of((*drawn, ObservedSession(99, 0, 60, rare)))
    assert {row.command for row in pattern.commands} == set(NAMES)


def test_the_script_has_the_think_times_and_runs(tmp_path: Path) -> None:
    now_s, lines = EPOCH_S, []
    random = np.random.default_rng(3)
    for number in range(240):
        name = NAMES[number % 3]
        lines.append(f": {now_s}:1;{name} x\n")
        now_s += 1 + int(2 + random.integers(0, 3) + (20 if name == "make" else 0))
    history = tmp_path / "history"
    history.write_text("".join(lines))
    observation = loadgo.observe(history, output=tmp_path / "seen.toml")
    script = tomllib.loads(observation.text)
    (choice,) = script["lines"]
    laws = {line["as"]: line.get("think_after") for line in choice["choose"]}
    assert set(laws) == set(NAMES)
    assert all(laws.values())
    assert "Think times by what was just done" in observation.report("md")
    frame = observation.frame("think_after")
    means_s = {row["command"]: row["mean_ns"] / SECOND_NS for row in frame.to_dicts()}
    assert means_s == {
        "cat": pytest.approx(3, abs=0.5),
        "ls": pytest.approx(3, abs=0.5),
        "make": pytest.approx(23, abs=0.5),
    }
