"""Faults of `run --from gen1,gen2`: drivers that are lost, stopped or have no key, and a controller that ends early.

All drivers are agents on one test host, at which their users log in to it again.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.measures.summary import summarize
from support.agent_hosts import FAR, AgentHost, agent_host, eventually, is_lost_in_time, rows_came, send_to
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT

SCRIPT = """
name  = "far work"
think = "uniform(0.1s, 0.3s)"
needs = ["true"]
[[lines]]
type = 'echo {pass} >>"$HOME/typed-{user}"'
"""
USERS = 6
LAST = {"ash": 3, "birch": 6}
"""The last user of each driver."""
OUT_OF_BIRCH = [4, 5, 6]
MOST_STANDSTILL_S = 10
"""A driver that has been stopped for longer types no more: `MOST_STANDSTILL_S` in crates/agent/src/message.rs."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    """A host with process ids of its own, which can log in to itself, and a script that its users type."""
    with agent_host(tmp_path_factory.mktemp("from"), apart=True) as host:
        (host.folder / "work.toml").write_text(SCRIPT)
        host.list_hosts(*LAST, file="gens.toml")
        yield host


@pytest.fixture
def far(host: AgentHost) -> AgentHost:
    """The host, without what earlier tests have typed there."""
    host.reaches_itself()
    host.typed()
    return host


def words(*more: str, out: str, on: str = FAR) -> list[str]:
    return ["run", "work.toml", "--on", on, "--from", "gens.toml", "--users", str(USERS), "--out", out, *more]


def told(text: str) -> str:
    return " ".join(text.split())


def begun(far: AgentHost, *more: str, out: str) -> subprocess.Popen[str]:
    """A run whose users type at both drivers, and whose meters have sent records, unless it is over already."""
    running = far.start(*words(*more, out=out))
    folder = far.folder / out
    streams = [(folder / "drivers" / name, "interactions") for name in LAST] + [(folder / "other-host", "time")]
    eventually(lambda: running.poll() is not None or all(rows_came(*stream) for stream in streams), "no records come")
    return running


def under_way(far: AgentHost, *more: str, out: str) -> subprocess.Popen[str]:
    """A run that has begun and goes on."""
    running = begun(far, *more, out=out)
    assert running.poll() is None, running.communicate()
    return running


def driver_pids(far: AgentHost) -> list[int]:
    """The agents that drive, in the order of their users: those that have terminals open."""
    pids = [pid for pid in far.agent_pids() if any("ptmx" in name for name in open_files(pid))]
    return sorted(pids, key=lambda pid: min(users_of(pid)))


def open_files(pid: int) -> list[str]:
    names = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            names.append(os.readlink(path))
    return names


def users_of(agent: int) -> list[int]:
    """The users whose log-in commands are children of an agent."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            if int((path / "stat").read_text().rsplit(") ", 1)[1].split()[1]) == agent:
                variables = (path / "environ").read_bytes().split(b"\0")
                found += [int(word.split(b"=")[1]) for word in variables if word.startswith(b"LOADGO_USER=")]
    return found


def lines_typed(far: AgentHost, users: list[int]) -> list[str]:
    """The text that each of these users has typed so far."""
    paths = [far.host.home / f"typed-{user}" for user in users]
    return [path.read_text() if path.exists() else "" for path in paths]


def until_others_type_on(far: AgentHost, running: subprocess.Popen[str]) -> None:
    """Waits until the users of the first driver have typed ten lines more each, or the run is over."""
    counts = [text.count("\n") for text in lines_typed(far, [1, 2, 3])]
    eventually(
        lambda: (
            running.poll() is not None
            or all(
                text.count("\n") >= count + 10 for text, count in zip(lines_typed(far, [1, 2, 3]), counts, strict=True)
            )
        ),
        "the others do not go on",
    )


def check_birch_is_lost(far: AgentHost, out: str, reason: str) -> None:
    """Checks the records of a run whose driver birch was lost, while ash went on."""
    run, tables = far.run_toml(out), loadgo.tables(far.folder / out)
    ash, birch = run["drivers"]
    assert "lost" not in ash
    assert reason in birch["lost"]
    assert run["outcome"] == "done"
    outcomes = tables.sessions.sort("user").select("user", pl.col("outcome", "driver").cast(pl.String)).rows()
    assert outcomes == [
        (user, "done" if user <= 3 else "died", "ash" if user <= 3 else "birch") for user in range(1, 7)
    ]
    rows = tables.lost.filter(pl.col("user").is_not_null()).sort("user")
    assert rows["user"].to_list() == OUT_OF_BIRCH
    assert set(rows["driver"].cast(pl.String)) == {"birch"}
    assert set(rows["what"].cast(pl.String)) == {"session"}
    lost_ns = birch["lost_at_s"] * 1e9
    last = dict(tables.interactions.group_by(pl.col("driver").cast(pl.String)).agg(pl.col("sent_ns").max()).rows())
    assert last["birch"] <= lost_ns + birch["clock"]["bound_ns"] + 1e6
    assert last["ash"] > last["birch"]


def lose_birch(far: AgentHost, loss: str) -> None:
    """Kills the agent that drives birch, or cuts its connection; nothing happens to agents that have ended."""
    with suppress(OSError, ValueError, IndexError):
        birch = driver_pids(far)[1]
        send_to([birch] if loss == "killed" else far.sshd_above(birch), signal.SIGKILL)


def run_without_birch(far: AgentHost, loss: str, *allowed: str, out: str) -> subprocess.CompletedProcess[str]:
    """A run that is over, during which birch was lost. On a busy host it takes a longer one to be lost in time."""
    for length in ("12s", "1min", "10min"):
        shutil.rmtree(far.folder / out, ignore_errors=True)
        running = begun(far, "--for", length, *allowed, out=out)
        lose_birch(far, loss)
        ended = far.ended(running, 0, 1)
        if is_lost_in_time(loadgo.tables(far.folder / out), far.run_toml(out)["drivers"][1]):
            return ended
    pytest.fail("each run was nearly over before birch was lost, or its loss was not seen")


@pytest.mark.parametrize(("loss", "allowed"), [("killed", ()), ("killed", ("--without-lost", "1")), ("cut", ())])
def test_users_of_a_lost_driver_are_lost_and_the_others_go_on(
    loss: str, allowed: tuple[str, ...], far: AgentHost
) -> None:
    out = "-".join((loss, *(word.strip("-") for word in allowed)))
    ended = run_without_birch(far, loss, *allowed, out=out)
    assert allowed or ended.returncode == 1
    check_birch_is_lost(far, out, "loadgo's agent was lost before its answer")
    report = told(ended.stdout)
    if allowed:
        assert "INVALID: the driver birch" not in report
        assert "the driver birch was lost" in report
        assert "The run counts without it" in report
        assert ended.returncode == 0 or not summarize(loadgo.tables(far.folder / out)).driver.valid
    else:
        assert "INVALID: the driver birch was lost" in report
        assert "--without-lost 1" in report
    assert "birch" in report[report.index("Drivers driver") :]


def stop_birch(far: AgentHost) -> int:
    """Stops the agent that drives birch, and returns its process id; 0 if it has ended."""
    with suppress(OSError, ValueError, IndexError):
        birch = driver_pids(far)[1]
        os.kill(birch, signal.SIGSTOP)
        eventually(lambda: Path(f"/proc/{birch}/stat").read_text().rsplit(") ", 1)[1].startswith("T"), "it runs")
        return birch
    return 0


def test_a_driver_that_was_stopped_and_runs_on_loads_nobody_any_more(far: AgentHost) -> None:
    for length in ("30s", "2min", "10min"):  # a busy host needs a longer run to lose a driver in time
        shutil.rmtree(far.folder / "stopped", ignore_errors=True)
        running = begun(far, "--for", length, out="stopped")
        birch = stop_birch(far)
        until_others_type_on(far, running)  # by then all has come that was under way to the shells
        before = lines_typed(far, OUT_OF_BIRCH)
        # The controller gives it up after 15 s, and lets it run on, so that it logs its users out.
        eventually(lambda agent=birch: not Path(f"/proc/{agent}").exists(), "the agent does not end")
        when_it_ended = lines_typed(far, OUT_OF_BIRCH)
        ended = far.ended(running, 0, 1)
        if is_lost_in_time(loadgo.tables(far.folder / "stopped"), far.run_toml("stopped")["drivers"][1]):
            break
    assert ended.returncode == 1
    assert when_it_ended == before
    assert lines_typed(far, OUT_OF_BIRCH) == before
    check_birch_is_lost(far, "stopped", "loadgo's agent has not answered for 15 s")


def test_a_driver_whose_controller_was_killed_while_it_was_stopped_types_nothing_more(far: AgentHost) -> None:
    running = under_way(far, "--for", "10min", out="orphaned")
    birch = driver_pids(far)[1]
    os.kill(birch, signal.SIGSTOP)
    stopped_s = time.monotonic()
    until_others_type_on(far, running)
    before = lines_typed(far, OUT_OF_BIRCH)
    running.kill()
    running.communicate()
    eventually(lambda: far.agent_pids() == [birch], "the other agents do not end")
    eventually(lambda: time.monotonic() - stopped_s > MOST_STANDSTILL_S + 1, "time stands still")
    os.kill(birch, signal.SIGCONT)
    far.ended(running, -signal.SIGKILL)
    assert lines_typed(far, OUT_OF_BIRCH) == before


def test_an_interrupt_logs_all_users_out_and_keeps_what_was_done(far: AgentHost) -> None:
    running = under_way(far, "--for", "10min", out="interrupted")
    running.send_signal(signal.SIGINT)
    far.ended(running, 130)
    run, tables = far.run_toml("interrupted"), loadgo.tables(far.folder / "interrupted")
    assert run["outcome"] == "stopped"
    assert all("lost" not in driver for driver in run["drivers"])
    assert set(tables.interactions["driver"].cast(pl.String)) == {"ash", "birch"}
    assert set(tables.sessions["outcome"].cast(pl.String)) == {"stopped"}
    assert len(tables.time) > 0


def test_a_killed_run_ends_everywhere_and_its_rows_are_read_where_they_are(far: AgentHost) -> None:
    running = under_way(far, "--for", "10min", out="killed-here")
    running.kill()
    far.ended(running, -signal.SIGKILL)
    tables = loadgo.tables(far.folder / "killed-here")
    assert tables.outcome == "killed"
    assert set(tables.interactions["driver"].cast(pl.String)) == {"ash", "birch"}
    assert tables.interactions["sent_ns"].min() > 0  # type: ignore[operator]  # it is a number
    report = told(far.loadgo("report", "killed-here").stdout)
    assert "The run was cut off" in report
    assert "6 users" in report
    alone = told(far.loadgo("report", "killed-here/drivers/birch").stdout)
    assert "far work" in alone


def test_a_driver_without_a_key_is_told_before_anybody_logs_in(far: AgentHost) -> None:
    far.reaches_itself(key=False)
    err = told(far.loadgo(*words(out="without-key"), status=2).stderr)
    assert f"users cannot log in to {FAR} from ash" in err or f"users cannot log in to {FAR} from birch" in err
    assert "Permission denied" in err
    assert "ssh -o BatchMode=yes far true" in err
    assert not (far.folder / "without-key").exists()
    assert far.typed() == {}


def test_a_program_that_the_script_needs_is_looked_for_from_the_drivers(far: AgentHost) -> None:
    (far.folder / "needy.toml").write_text(SCRIPT.replace('["true"]', '["true", "no-such-program"]'))
    words = ["run", "needy.toml", "--on", FAR, "--from", "gens.toml", "--users", "4", "--out", "needy"]
    err = told(far.loadgo(*words, status=2).stderr)
    assert f"the script needs `no-such-program`, which {FAR} does not have" in err
    assert not (far.folder / "needy").exists()


def test_a_driver_that_cannot_be_reached_is_told_before_anybody_logs_in(far: AgentHost) -> None:
    (far.folder / "away.toml").write_text(
        f'[[hosts]]\naddress = "{FAR}"\n[[hosts]]\nname = "away"\naddress = "ssh://far:1"\n'
    )
    words = ["run", "work.toml", "--on", FAR, "--from", "away.toml", "--users", "4", "--out", "away"]
    assert "ssh://far:1" in told(far.loadgo(*words, status=2).stderr)
    assert not (far.folder / "away").exists()


def test_a_full_disk_at_the_drivers_is_told_and_what_came_before_is_kept(far: AgentHost) -> None:
    running = under_way(far, "--for", "10min", out="full")
    with suppress(OSError), (far.root / "var/tmp/full").open("wb", buffering=0) as file:
        while file.write(bytes(1 << 20)):
            pass
    until_others_type_on(far, running)  # the users go on
    running.send_signal(signal.SIGINT)
    try:
        ended = far.ended(running, 130)
    finally:
        (far.root / "var/tmp/full").unlink()
    run, tables = far.run_toml("full"), loadgo.tables(far.folder / "full")
    reasons = tables.lost["reason"].to_list()
    assert any("No space left on device" in reason for reason in reasons), reasons
    # The drivers share the disk: what the first to end sets free may be enough for the other.
    lost = [driver["lost"] for driver in run["drivers"] if "lost" in driver]
    assert lost
    assert all("make room on that host in /var/tmp" in reason for reason in lost)
    assert "make room on that host in /var/tmp" in told(ended.stdout)
    assert set(tables.interactions["driver"].cast(pl.String)) == {"ash", "birch"}


def test_two_controllers_at_the_same_hosts_do_not_disturb_each_other(far: AgentHost) -> None:
    options = ("--passes", "8", "--quiet")
    both = [far.start(*words(*options, out=out)) for out in ("first", "second")]
    for running in both:
        _, err = running.communicate()
        assert running.returncode in (0, 1), err
    for out in ("first", "second"):
        tables = loadgo.tables(far.folder / out)
        assert len(tables.interactions) == USERS * 8
        assert tables.lost.is_empty(), tables.lost
    assert [len(text.split()) for text in lines_typed(far, list(range(1, USERS + 1)))] == [16] * USERS
