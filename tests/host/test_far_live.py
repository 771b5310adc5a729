"""A run on other hosts while it goes on: what interactions use is watched, and agrees with the table at the end."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.records.following import Following, follow
from loadgo.watching.answer import answer
from loadgo.watching.server import PageMessages
from loadgo.watching.window import window_of
from support.agent_hosts import FAR, AgentHost, agent_host, eventually, send_to
from support.outside import LOOK_EVERY_S, NEEDS_ROOT
from support.watched import heads

pytestmark = NEEDS_ROOT

LOOPING = "./live-loop -c 'n=0; while [ $n -lt 40000 ]; do n=$((n+1)); done'"
SCRIPT = f"""
name  = "far use"
login = "bash"
think = "fixed(0.7s)"
needs = ["bash"]
lines = ['ln -sf "$(command -v sh)" live-loop', {LOOPING!r}, "sleep 0.2"]
"""
CPU = (pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).alias("cpu")
MOST_CHANGED = 2
"""Largest number of a user's lines whose usage may still change: the newest, and one that waits for its reading."""

MOVED_NS, MOVED_WAIT_NS, MOVED_FAULTS = 2_000_000, 50_000_000, 20
"""Largest use of a shell just after its prompt: processor time, waits for a processor, page faults."""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host whose agent has every source of usage, and a script that its users type."""
    with agent_host(tmp_path, other_boot=True) as host:
        (tmp_path / "work.toml").write_text(SCRIPT)
        yield host


def begun(far: AgentHost, on: str, *more: str) -> tuple[subprocess.Popen[str], Following]:
    """A run of two users that goes on, and those who follow it."""
    running = far.start("run", "work.toml", "--on", on, "--users", "2", "--out", "kept", "--quiet", *more)
    kept = far.folder / "kept"
    eventually(lambda: (kept / "run.toml").exists() or running.poll() is not None, "the run does not begin")
    assert running.poll() is None, running.communicate()
    return running, follow(kept)


def usage_now(following: Following) -> pl.DataFrame:
    """The answers that have a usage by now."""
    known = following.all_tables().interactions.filter(CPU.is_not_null())
    return known.select("user", "sent_ns", pl.col("command").cast(pl.String), CPU, "ready_wait_ns", "faults_minor")


def usage_on_page(page: PageMessages) -> dict[int, float | None]:
    """The processor time of each interaction, by its sending, as a page has it that has taken all messages."""
    told = heads(b"".join(page.messages))
    lines = [one for one in told if one.get("table") == "interactions"]
    sent, cpu = (np.concatenate([one[name] for one in lines]) for name in ("sent_ns", "cpu_ns"))
    assert np.isnan(cpu[: lines[0]["rows"]]).all(), "the first lines came without a usage"
    for usage in (one for one in told if one.get("table") == "usage"):
        cpu[usage["row"]] = usage["cpu_ns"]
    return {int(at): None if np.isnan(used) else float(used) for at, used in zip(sent, cpu, strict=True)}


def watched_until_the_end(
    running: subprocess.Popen[str], following: Following, page: PageMessages | None = None
) -> pl.DataFrame:
    """The usage that was seen last while the run went on. The `page` takes in all that comes."""
    seen = pl.DataFrame()
    while running.poll() is None:
        now = usage_now(following)
        if following.ended:
            break
        seen = now
        if page is not None:
            page.read()
        time.sleep(LOOK_EVERY_S)
    return seen


def check_against_the_end(seen: pl.DataFrame, far: AgentHost) -> None:
    """All that was seen is what the run's table has, but for the newest lines of each user."""
    final = loadgo.tables(far.folder / "kept").interactions
    settled = seen.filter(pl.col("sent_ns").rank("ordinal", descending=True).over("user") > MOST_CHANGED)
    both = settled.join(final.select("user", "sent_ns", CPU, "ready_wait_ns", "faults_minor"), on=["user", "sent_ns"])
    assert len(both) == len(settled) >= 6
    # What a shell does just after its prompt goes to this line or to the next, by how well the clocks are known.
    for name, least in (("cpu", MOVED_NS), ("ready_wait_ns", MOVED_WAIT_NS), ("faults_minor", MOVED_FAULTS)):
        first, last = (pl.col(column).cast(pl.Int64) for column in (name, f"{name}_right"))
        bound = pl.max_horizontal(pl.lit(least), last * 0.01)
        others = both.filter((first - last).abs() > bound)
        assert others.is_empty(), others.rows(named=True)
    assert both["cpu_right"].null_count() <= 2


def test_the_usage_of_each_line_is_seen_while_the_run_goes_on_and_is_that_of_the_end(far: AgentHost) -> None:
    running, following = begun(far, FAR, "--passes", "6")
    eventually(lambda: "./live-loop" in set(usage_now(following)["command"]), "no usage is seen")
    assert running.poll() is None
    picture = far.watched("kept")
    loop = next(line for line in picture.splitlines() if line.startswith("./live-loop")).split()
    assert loop[-1] in ("ms", "s"), "its processor time is known"
    assert float(loop[-2]) > 0
    assert "CPU of " in picture
    assert ", provisional" in picture
    page = PageMessages(follow(far.folder / "kept"), {})
    page.read()
    seen = watched_until_the_end(running, following, page)
    far.ended(running, 0, 1)
    check_against_the_end(seen, far)
    assert ", provisional" not in far.watched("kept")
    page.read()
    assert page.following.ended
    final = loadgo.tables(far.folder / "kept").interactions.with_columns(CPU)
    assert usage_on_page(page) == dict(final.select("sent_ns", pl.col("cpu").cast(pl.Float32)).rows())
    assert (
        usage_now(following)
        .drop_nulls()
        .sort("user", "sent_ns")
        .equals(usage_now(follow(far.folder / "kept")).drop_nulls().sort("user", "sent_ns"))
    )


def test_users_of_every_host_are_seen_with_their_usage(far: AgentHost) -> None:
    running, following = begun(far, far.list_hosts("ash", "birch"), "--passes", "5")
    eventually(lambda: set(usage_now(following)["user"]) == {1, 2}, "a host's usage is not seen")
    assert running.poll() is None
    assert ", provisional" in far.watched("kept")
    seen = watched_until_the_end(running, following)
    far.ended(running, 0, 1)
    check_against_the_end(seen, far)


def test_when_the_agent_is_killed_the_loss_is_seen_and_later_lines_have_no_usage(far: AgentHost) -> None:
    running, following = begun(far, FAR, "--until", "time=60s")
    eventually(lambda: len(usage_now(following)) >= 2, "no usage is seen")
    send_to(far.agent_pids(), signal.SIGKILL)
    eventually(lambda: "Lost: " in answer_now(following), "the loss is not seen")
    lost_s = float(answer_now(following).split(" at ")[1].split(" s")[0])
    eventually(lambda: far.watched("kept").splitlines()[1].startswith("Lost: "), "a picture does not tell it")
    before = len(following.all_tables().interactions)
    eventually(lambda: len(following.all_tables().interactions) >= before + 4, "the users do not type on")
    seen = usage_now(following)
    assert len(seen) >= 2
    assert seen["sent_ns"].max() < lost_s * 1e9  # type: ignore[operator]
    running.send_signal(signal.SIGINT)
    far.ended(running, 0, 1, 130)
    lost = loadgo.tables(far.folder / "kept").lost
    assert "meters" in set(lost["what"].cast(pl.String))


def answer_now(following: Following) -> str:
    tables = following.all_tables()
    end_ns = int(tables.interactions["ready_ns"].max() or 1) + 10**9  # type: ignore[arg-type]
    return answer(window_of(tables, end_ns, end_ns, 10))
