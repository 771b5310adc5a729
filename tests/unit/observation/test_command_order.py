"""The order of commands: chains are found where they are, noise is none, and the script types the pairs as seen."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import loadgo
import numpy as np
import pytest
from loadgo.observation.classes import SessionClass
from loadgo.observation.command_order import FEWEST_PAIRS, command_orders
from loadgo.observation.results import CommandOrder
from loadgo.observation.sessions import CommandUse, ObservedSession
from loadgo.running.prepared import line_count
from support.accounting_records import EPOCH_S, made_day, written_accounting

NAMES = ("cat", "ls", "make")
MACHINE = """\
title = "One processor"
source = "assumed, all of it"
[processors]
count = 1
discipline = "round-robin"
quantum = "50ms"
[commands."*"]
cpu = "fixed(1ms)"
"""
CHAIN = np.array([[0.1, 0.2, 0.7], [0.6, 0.2, 0.2], [0.3, 0.6, 0.1]])


def sessions(count: int, length: int, rows: np.ndarray, seed: int = 1) -> list[list[str]]:
    """Sessions of a chain with these rows, each of which begins with `cat`."""
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(count):
        places = [0]
        while len(places) < length:
            places.append(int(random.choice(3, p=rows[places[-1]])))
        drawn.append([NAMES[place] for place in places])
    return drawn


def order_of(drawn: list[list[str]]) -> CommandOrder:
    observed = tuple(ObservedSession(0, 0, 60, tuple(CommandUse(name) for name in session)) for session in drawn)
    (order,) = command_orders((SessionClass("all", observed),), is_ordered=True)
    return order


def written_sessions(path: Path, drawn: list[list[str]]) -> Path:
    """A history of zsh with these sessions, an hour from the beginning of each to the next."""
    lines = [
        f": {EPOCH_S + 3600 * session + 10 * place}:1;{name}\n"
        for session, names in enumerate(drawn)
        for place, name in enumerate(names)
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def pair_shares(drawn: list[list[str]]) -> dict[tuple[str, str], float]:
    pairs = Counter(pair for session in drawn for pair in pairwise(session))
    return {pair: count / pairs.total() for pair, count in pairs.items()}


def test_an_order_is_found_and_its_weights_are_the_pairs() -> None:
    drawn = sessions(20, 30, CHAIN)
    order = order_of(drawn)
    assert order.p_value == pytest.approx(1 / 200)
    pairs = Counter(pair for session in drawn for pair in pairwise(session))
    seen = {(row.command, after.command): after.count for row in order.commands for after in row.following}
    assert {pair: count for pair, count in seen.items() if count} == pairs
    assert {row.command: row.first for row in order.commands} == {"cat": 20, "ls": 0, "make": 0}
    assert order.distance is not None
    assert order.distance_without is not None
    assert order.distance < 0.03
    assert order.distance_without > 0.25


def test_each_command_comes_as_often_in_the_chain_as_it_was_seen() -> None:
    drawn = sessions(25, 4, CHAIN) + [["make"]] * 7 + [["ls", "ls", "ls"]] * 5
    order = order_of(drawn)
    names = [row.command for row in order.commands]
    totals = Counter(name for session in drawn for name in session)
    flows = dict.fromkeys(names, 0.0)
    for row in order.commands:
        assert sum(after.weight for after in row.following) == pytest.approx(totals[row.command])
        for after in row.following:
            flows[after.command] += after.weight
    assert flows == pytest.approx(dict(totals))


def test_commands_that_are_drawn_anew_have_no_order() -> None:
    order = order_of(sessions(20, 30, np.tile([0.5, 0.3, 0.2], (3, 1))))
    assert order.p_value is not None
    assert order.p_value > 0.01
    assert (order.distance, order.commands) == (None, ())


def test_people_who_differ_keep_no_order_by_that() -> None:
    random = np.random.default_rng(5)
    drawn = [
        [NAMES[place] for place in random.choice(3, 30, p=[0.8, 0.1, 0.1] if person % 2 else [0.1, 0.1, 0.8])]
        for person in range(20)
    ]
    assert order_of(drawn).commands == ()


def test_few_pairs_are_too_few_to_tell() -> None:
    few = [["cat", "make"] * (FEWEST_PAIRS // 2)]
    assert order_of(few).p_value is None
    assert order_of([*few, ["cat", "make", "cat"]]).commands
    assert order_of([["cat"]] * 200).p_value is None
    assert order_of([["cat"] * 200]).p_value is None


def test_a_single_command_is_the_reason_for_no_order(tmp_path: Path) -> None:
    observation = loadgo.observe(written_sessions(tmp_path / "history", [["cat"] * 40] * 3))
    (known,) = (figure for figure in observation.known if figure.figure == "order of commands")
    assert known.remark == "there is a single command, or a session of the script has a single one"


@pytest.mark.statistical
def test_noise_becomes_a_chain_in_one_of_a_hundred_observations() -> None:
    random = np.random.default_rng(11)
    chains = 0
    for seed in range(400):
        shares = random.dirichlet([1.0, 1.0, 1.0])
        chains += bool(order_of(sessions(8, 25, np.tile(shares, (3, 1)), seed)).commands)
    assert chains <= 12, chains  # 1 % of 400 are 4, with a deviation of 2


def test_a_script_says_what_follows_what_and_types_it(tmp_path: Path) -> None:
    typed_sessions = sessions(30, 20, CHAIN, seed=3)
    observation = loadgo.observe(
        written_sessions(tmp_path / "history", typed_sessions), output=tmp_path / "monday.toml"
    )
    choice = tomllib.loads(observation.text)["lines"][0]
    assert choice["repeat"] == 20
    rows = {line["as"]: line for line in choice["choose"]}
    assert {name: line["weight"] for name, line in rows.items()} == {"cat": 30, "ls": 0, "make": 0}
    assert set(rows["cat"]["then"]) == set(NAMES)
    assert line_count(observation.text) > 0
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE, encoding="utf-8")
    run = loadgo.run(tmp_path / "monday.toml", on=machine, users=40, passes=10, think="fixed(1s)", out=tmp_path / "run")
    table = loadgo.tables(run).interactions.sort("user", "sent_ns")
    driven = [
        list(part["command"].cast(str)[start : start + 20])
        for (_,), part in table.group_by("user")
        for start in range(0, 200, 20)
    ]
    assert all(session[0] == "cat" for session in driven)
    expected, actual = pair_shares(typed_sessions), pair_shares(driven)
    distance = sum(abs(expected.get(pair, 0) - actual.get(pair, 0)) for pair in {*expected, *actual}) / 2
    assert distance < 0.05
    assert "What follows what" in observation.report()
    (known,) = (figure for figure in observation.known if figure.figure == "order of commands")
    assert known.source == "shell history"
    assert known.remark.startswith("each is drawn by the one before, from 570 pairs; ")
    assert observation.frame("orders").height == 9


def test_records_without_an_order_say_so(tmp_path: Path) -> None:
    observation = loadgo.observe(written_accounting(tmp_path / "pacct", made_day()))
    assert observation.orders == ()
    assert "then = " not in observation.text
    (known,) = (figure for figure in observation.known if figure.figure == "order of commands")
    assert known.source == ""
    assert "do not say which command came before which" in known.remark
