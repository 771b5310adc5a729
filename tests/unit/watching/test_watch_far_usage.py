"""The usage of interactions on other hosts, as it is watched while the run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from loadgo.records.fleets import FLEET_FOLDER
from loadgo.records.following import Following, follow
from loadgo.records.host_places import ControllerLock
from loadgo.records.runs import FAR_FOLDER
from loadgo.records.tables import Tables
from loadgo.watching.answer import answer, answer_kind
from loadgo.watching.server import PageMessages
from loadgo.watching.terminal import ScreenContext, screen
from loadgo.watching.window import WatchWindow, window_of
from support.fleets import append, growing_far_run, growing_run, metered_fleet_run, readings_of, usage_in_readings
from support.run_lock import lock_held
from support.watched import heads

S = 1_000_000_000
CPU = pl.col("cpu_user_ns") + pl.col("cpu_system_ns")


@pytest.fixture(scope="module")
def measured() -> Tables:
    run = metered_fleet_run((1.0, 2.0), (0.2, 0.3))
    unknown = [pl.lit(None, pl.UInt64).alias(name) for name in ("cpu_user_ns", "cpu_system_ns")]
    return replace(run, interactions=run.interactions.with_columns(unknown))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


@contextmanager
def controller(folder: Path) -> Iterator[None]:
    """Holds the lock of a controller that receives a host's records."""
    lock = ControllerLock(folder)
    try:
        yield
    finally:
        lock.release()


def window_in(following: Following, end_s: float = 8) -> WatchWindow:
    end_ns = round(end_s * S)
    return window_of(following.all_tables(), end_ns, end_ns, 40)


def known_in(interactions: pl.DataFrame) -> list[tuple[int, int]]:
    """Each user and sending of interactions with a usage."""
    return interactions.filter(CPU.is_not_null()).select("user", "sent_ns").sort("user", "sent_ns").rows()


def answered_by(interactions: pl.DataFrame, until_s: float) -> list[tuple[int, int]]:
    return (
        interactions.filter(pl.col("ready_ns") <= until_s * S).select("user", "sent_ns").sort("user", "sent_ns").rows()
    )


def test_interactions_have_their_usage_as_far_as_accounts_were_read(folder: Path, measured: Tables) -> None:
    far = growing_far_run(folder, measured)
    far.place(0.0)
    with lock_held(folder), controller(folder / FAR_FOLDER):
        following = follow(folder)
        assert window_in(following).charged == 0
        far.read(4.0)
        interactions = following.all_tables().interactions
        # Answers within the bound of the clocks before the last reading are not known yet.
        assert known_in(interactions) == answered_by(interactions, 4.0 - 50e-6)
        far.read(90.0)
        interactions = following.all_tables().interactions.sort("sent_ns")
        assert interactions.select(CPU.alias("used"))["used"].to_list() == (
            interactions.select(usage_in_readings().alias("used"))["used"].to_list()
        )
        window = window_in(following)
        assert window.charged == window.answered > 10
        lines = screen(window, ScreenContext("work", "live"), 120, 40)
        assert f"; CPU of {window.charged}, provisional" in lines[-1]
        cpu_ns = window.commands[0].cpu_ns
        assert cpu_ns is not None
        assert 1_000_000 < cpu_ns < 11_000_000


def test_a_host_whose_clock_is_known_badly_has_no_usage_until_it_is_known_better(
    folder: Path, measured: Tables
) -> None:
    far = growing_far_run(folder, measured)
    far.place(0.0, bound_ns=240_000_000)
    far.read(90.0)
    with lock_held(folder):
        following = follow(folder)
        assert known_in(following.all_tables().interactions) == []
        far.place(0.0)
        assert known_in(following.all_tables().interactions) != []


def test_the_loss_of_the_only_other_host_is_the_answer(folder: Path, measured: Tables) -> None:
    far = growing_far_run(folder, measured)
    far.place(0.0)
    far.come(4)
    far.read(4.0)
    with lock_held(folder), controller(folder / FAR_FOLDER):
        following = follow(folder)
        assert not answer(window_in(following)).startswith("Lost")
        far.place(0.0, lost="the agent was killed", lost_at_s=4.5)
        window = window_in(following)
        assert answer(window).startswith("Lost: ash.example at 4.50 s. ")
        assert answer_kind(window) == "answer"
        assert window.charged == len(answered_by(following.all_tables().interactions, 4.0 - 50e-6))
        assert not answer(window_in(following, 4.0)).startswith("Lost"), "at that moment it was not lost yet"


def test_each_host_of_several_has_its_own_readings_and_clock(folder: Path, measured: Tables) -> None:
    hosts = growing_run(folder, measured)
    ahead_ns = 30 * S
    with lock_held(folder), controller(folder / FLEET_FOLDER):
        hosts["ash"].place(0.0)
        hosts["birch"].place(-30.0)
        hosts["ash"].read(90.0)
        following = follow(folder)
        interactions = following.all_tables().interactions
        assert known_in(interactions) == answered_by(interactions.filter(pl.col("user") <= 10), 90.0)
        rows = readings_of(hosts["birch"].tables.interactions, 0, 90.0)
        append(
            hosts["birch"].folder / "session_usage.arrows",
            rows.with_columns(at_ns=pl.col("at_ns") + pl.lit(ahead_ns, pl.UInt64)),
        )
        interactions = following.all_tables().interactions
        assert known_in(interactions) == answered_by(interactions, 90.0)
        assert interactions["user"].max() == 20


def page_rows(page: PageMessages) -> list[dict[str, Any]]:
    return [message for message in heads(b"".join(page.messages)) if message.get("table") == "usage"]


def test_the_page_is_told_the_usage_of_rows_that_it_has(folder: Path, measured: Tables) -> None:
    far = growing_far_run(folder, measured)
    far.place(0.0)
    with lock_held(folder), controller(folder / FAR_FOLDER):
        page = PageMessages(follow(folder), {})
        page.read()
        assert page_rows(page) == []
        assert heads(page.messages[-1])[0]["provisional"] is True
        far.read(90.0)
        page.read()
        (usage,) = page_rows(page)
        sent = np.concatenate(
            [one["sent_ns"] for one in heads(b"".join(page.messages)) if one.get("table") == "interactions"]
        )
        far_rows = far.tables.interactions.sort("sent_ns").with_columns(used=usage_in_readings())
        expected = dict(far_rows.select(pl.col("sent_ns").cast(pl.Float64), "used").rows())
        told = dict(zip(sent[usage["row"]].tolist(), usage["cpu_ns"].tolist(), strict=True))
        assert told == {sent_ns: pytest.approx(used) for sent_ns, used in expected.items() if sent_ns in set(sent)}
        far.place(0.0, lost="the agent was killed", lost_at_s=95.0)
        far.read(91.0)
        page.read()
        assert heads(page.messages[-1])[0]["lost_host"] == {"name": "ash.example", "lost_ns": 95.0 * S}
        assert len(page_rows(page)) == 1, "what is told already is not told again"


def test_a_run_that_was_killed_has_the_usage_that_its_readings_show(folder: Path, measured: Tables) -> None:
    far = growing_far_run(folder, measured)
    far.place(0.0)
    far.read(4.0)
    following = follow(folder)
    interactions = following.all_tables().interactions
    assert (following.state_word, following.ended) == ("killed", True)
    assert known_in(interactions) == answered_by(interactions, 4.0 - 50e-6)
    assert window_in(following).charged is None, "nothing is known better later"
