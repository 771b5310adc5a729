"""`run --on ssh://HOST`: users log in there by ssh, the host is metered there, and one run folder here has it all."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.measures.summary import summarize
from support.agent_hosts import (
    FAR,
    AgentHost,
    agent_host,
    eventually,
    groups_named,
    parent_of,
    rows_came,
    rows_now,
    send_to,
)
from support.far_programs import sshd
from support.outside import NEEDS_ROOT, stolen_ns
from support.slow_network import proxy_command

pytestmark = NEEDS_ROOT

SCRIPT = """
name  = "far work"
think = "uniform(0.1s, 0.3s)"
needs = ["cat"]
lines = ["cat notes"]

[files]
notes = "first\\n\\tsecond\\n"
"""
NOTES_BYTES = len("first\r\n\tsecond\r\n")
EXCHANGES = ["beginning", "middle", "end"]


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host with process ids of its own, so that no session is metered from here."""
    with agent_host(tmp_path, apart=True) as host:
        (tmp_path / "work.toml").write_text(SCRIPT)
        yield host


def options(*more: str, script: str = "work.toml") -> list[str]:
    return [script, "--on", FAR, "--users", "3", *more]


def run_words(*more: str) -> list[str]:
    return ["run", *options(*more), "--out", "kept"]


def run_begun(far: AgentHost, *more: str) -> subprocess.Popen[str]:
    """A run whose users type, and whose meters have sent records, unless it is over already."""
    running = far.start(*run_words(*more))
    kept, of_far = far.folder / "kept", far.folder / "kept" / "other-host"
    needed = [(kept, "interactions"), (of_far, "time"), (of_far, "session_usage")]
    eventually(lambda: running.poll() is not None or all(rows_came(*one) for one in needed), "no records come")
    return running


def run_under_way(far: AgentHost, *more: str) -> subprocess.Popen[str]:
    """A run that has begun and goes on."""
    running = run_begun(far, *more)
    assert running.poll() is None, running.communicate()
    return running


def test_a_run_on_another_host_is_one_folder_with_the_meters_of_that_host(far: AgentHost) -> None:
    report = far.run(*options("--passes", "30")).stdout
    run = far.run_toml()
    assert (run["kind"], run["outcome"], run["system"]["name"]) == ("run", "done", FAR)
    assert run["meters"]["tier"] == "cheap"
    assert f"({FAR})" in report
    assert any("response times include the network" in note for note in run["notes"])
    assert sorted(path.name for path in (far.folder / "kept").iterdir() if path.suffix != ".parquet") == [
        "run.toml",
        "script.toml",
    ]
    tables = loadgo.tables(far.folder / "kept")
    assert len(tables.interactions) == 3 * 30
    assert tables.interactions["bytes_out"].unique().to_list() == [NOTES_BYTES]
    known = tables.interactions.filter(pl.col("cpu_user_ns").is_not_null())
    assert f"({len(known)} interactions of {len(tables.interactions)})" in run["usage"]["notes"][-1]
    assert len(known) > 0
    assert (known["cpu_user_ns"] + known["cpu_system_ns"] > 0).all()
    assert known["faults_minor"].null_count() == 0
    spans = tables.time.unique("at_ns").sort("at_ns")
    # A span has a second or more, and they cover all of the run.
    assert 1 < len(spans) <= run["wall_s"] + 2
    assert (spans["at_ns"] >= spans["span_ns"]).all()
    assert spans["at_ns"].max() >= tables.interactions["ready_ns"].max()  # type: ignore[operator]
    assert tables.time["time_ns"].sum() == pytest.approx((os.cpu_count() or 1) * spans["span_ns"].sum(), rel=0.01)
    assert "sshd" in "".join(tables.processes["who"].cast(pl.String))
    assert set(tables.processor_speed["processor"]) <= set(range(os.cpu_count() or 1)), (
        "the speed is that of the host there"
    )
    assert len(tables.processor_speed) > 0
    assert "driver" not in tables.processes["who"].cast(pl.String).to_list()


def test_the_clocks_are_compared_at_the_beginning_in_the_middle_and_at_the_end(far: AgentHost) -> None:
    far.run(*options("--for", "5s"))
    clock = far.run_toml()["clock"]
    assert [exchange["stage"] for exchange in clock["exchanges"]] == EXCHANGES
    begin, middle, end = (exchange["at_s"] for exchange in clock["exchanges"])
    assert begin < middle < end
    assert begin < 0
    assert end > 5
    for exchange in clock["exchanges"]:
        assert abs(exchange["offset_ns"]) <= exchange["bound_ns"], "both ends read the same clock"
    assert clock["bound_ns"] == max(exchange["bound_ns"] for exchange in clock["exchanges"])


TIMED = """
name  = "timed"
think = "uniform(0.1s, 0.3s)"
lines = [{ type = "sleep 0.2", as = "sleep" }, { type = "cat /etc/hostname; false", as = "two", status = 1 }]
"""


def test_the_shell_there_measures_each_line_without_the_network(far: AgentHost) -> None:
    (far.folder / "timed.toml").write_text(TIMED)
    report = " ".join(far.run(*options("--passes", "5", script="timed.toml")).stdout.split())
    lines = loadgo.tables(far.folder / "kept").interactions.with_columns(pl.col("command").cast(pl.String))
    assert lines["outcome"].cast(pl.String).unique().to_list() == ["ok"]
    assert lines["response_there_ns"].null_count() == 0
    assert (lines["response_there_ns"] <= lines["ready_ns"] - lines["sent_ns"]).all()
    slept = lines.filter(pl.col("command") == "sleep")
    assert (slept["response_there_ns"] >= 200_000_000).all()
    output = lines.filter(pl.col("command") == "two")["bytes_out"].unique().to_list()
    assert output == [len(Path("/etc/hostname").read_text()) + 1], "the mark with its time is no output"
    assert "The network and ssh took" in report


def test_a_slow_network_is_in_the_response_and_not_in_what_the_shell_measures(far: AgentHost) -> None:
    (far.folder / "timed.toml").write_text(TIMED)
    proxy = proxy_command(far.host.port, round_trip_s=0.3, loss=0.0)
    far.with_ssh("-o", f"ProxyCommand={proxy}")
    # Half of a round trip is more than the bound within which records have a place on the clock of the run.
    far.loadgo("run", *options("--passes", "4", script="timed.toml"), "--out", "kept", status=1)
    (reason,) = loadgo.tables(far.folder / "kept").lost["reason"].cast(pl.String)
    assert "ms only, over a slow network" in reason
    unknown, *_ = far.run_toml()["usage"]["notes"]
    assert unknown.startswith(f"what each interaction used on {FAR} is not known: its clock is known to ")
    network = summarize(loadgo.tables(far.folder / "kept"), phases="all").network
    assert network is not None
    assert network.network_ns >= 0.3e9, "a line and its prompt are one round trip"
    quick = loadgo.tables(far.folder / "kept").interactions.filter(pl.col("command").cast(pl.String) == "two")
    there, here = quick["response_there_ns"], quick["ready_ns"] - quick["sent_ns"]
    assert (here.cast(pl.Int64) - there.cast(pl.Int64) >= 300_000_000).all()


def test_a_shell_that_cannot_measure_is_told(far: AgentHost) -> None:
    (far.folder / "timed.toml").write_text(f'login = "dash"\n{TIMED}')
    far.run(*options("--passes", "2", script="timed.toml"))
    assert loadgo.tables(far.folder / "kept").interactions["response_there_ns"].null_count() == 3 * 2 * 2
    assert "is not known: it takes bash 5" in " ".join(far.loadgo("report", "kept").stdout.split())


def test_users_of_one_account_do_not_share_a_directory(far: AgentHost) -> None:
    line = '[ -e own ] || echo $$ >own; [ "$(cat own)" = $$ ]'
    (far.folder / "work.toml").write_text(f"name = 'apart'\nthink = 'fixed(0.1s)'\nstatus = 0\nlines = ['{line}']\n")
    far.run(*options("--passes", "3"))
    assert loadgo.tables(far.folder / "kept").interactions["outcome"].cast(pl.String).unique().to_list() == ["ok"]
    assert not (far.host.home / "own").exists()


def test_an_interrupt_logs_the_users_out_and_the_folder_is_whole(far: AgentHost) -> None:
    running = run_under_way(far, "--for", "10min")
    running.send_signal(signal.SIGINT)
    far.ended(running, 130)
    assert far.run_toml()["outcome"] == "stopped"
    assert len(loadgo.tables(far.folder / "kept").time) > 0
    eventually(lambda: not sessions_there(far), "a session stays on the other host")


def test_nothing_goes_on_there_after_a_loadgo_that_is_killed(far: AgentHost) -> None:
    running = run_under_way(far, "--for", "10min")
    assert sessions_there(far)
    running.kill()
    far.ended(running, -signal.SIGKILL)
    eventually(lambda: not sessions_there(far), "a session stays on the other host")
    far.run("work.toml", "--passes", "1", "--quiet", out="next")  # undoes what the killed one made here
    assert "killed" in far.loadgo("report", "kept").stdout
    assert len(loadgo.tables(far.folder / "kept" / "other-host").time) > 0


def sessions_there(far: AgentHost) -> list[str]:
    """The sshd processes of users' sessions on the other host."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if "sshd: root@pts" in line and _is_below(int(line.split()[0]), far)]


def _is_below(pid: int, far: AgentHost) -> bool:
    while pid > 1 and pid != far.host.pid:
        try:
            pid = parent_of(pid)
        except OSError:
            return False
    return pid == far.host.pid


@pytest.mark.parametrize("loss", ["the agent is killed", "its connection is cut"])
def test_the_run_goes_on_without_its_agent_and_the_loss_is_told(loss: str, far: AgentHost) -> None:
    for length in ("30s", "2min", "10min"):  # a busy host needs a longer run to lose its agent in time
        shutil.rmtree(far.folder / "kept", ignore_errors=True)
        running = run_begun(far, "--for", length)
        is_in_time = lose_agent(far, running, loss)
        ended = far.ended(running, 0, 1)
        if is_in_time:
            break
    assert (is_in_time, ended.returncode) == (True, 1)
    out = ended.stdout
    words = " ".join(out.split())
    assert "loadgo's agent was lost before its answer" in words
    assert " until the meters were lost" in words
    assert "then the meters were lost." in words
    tables = loadgo.tables(far.folder / "kept")
    assert far.run_toml()["outcome"] == "done"
    assert tables.sessions["outcome"].cast(pl.String).to_list() == 3 * ["done"], "the shells go on without the agent"
    lines = tables.interactions.sort("sent_ns")["cpu_user_ns"].is_not_null().to_list()
    assert any(lines)
    assert not any(lines[-3:]), "nobody read the accounts any more"
    assert tables.lost["what"].cast(pl.String).to_list() == ["meters"]
    last_line_ns, last_span_ns = tables.interactions["sent_ns"].max(), tables.time["at_ns"].max()
    assert last_line_ns > last_span_ns > 0  # type: ignore[operator]  # both are numbers


def lose_agent(far: AgentHost, running: subprocess.Popen[str], loss: str) -> bool:
    """Lets a metered run lose its agent. Returns whether users have typed on after that, and the run still goes on."""
    heard_ns, spans = read_until_ns(far), spans_come(far)
    eventually(
        lambda: running.poll() is not None or (read_until_ns(far) > heard_ns and spans_come(far) > spans + 2),
        "the host is not metered any more",
    )
    for agent in far.agent_pids():
        with suppress(OSError):
            send_to([agent] if loss == "the agent is killed" else far.sshd_above(agent), signal.SIGKILL)
    lines = len(rows_now(far.folder / "kept", "interactions"))
    eventually(
        lambda: running.poll() is not None or len(rows_now(far.folder / "kept", "interactions")) > lines + 9,
        "nobody types any more",
    )
    return running.poll() is None


def spans_come(far: AgentHost) -> int:
    """How many spans of the processors' time have come so far."""
    times = rows_now(far.folder / "kept" / "other-host", "time")
    return times["at_ns"].n_unique() if len(times) else 0


def read_until_ns(far: AgentHost) -> int:
    """The last instant, on the clock there, until which all accounts were read, as far as is known here."""
    readings = rows_now(far.folder / "kept" / "other-host", "session_usage")
    return int(readings.filter(pl.col("user").is_null())["at_ns"].max() or 0) if len(readings) else 0  # type: ignore[arg-type]


def test_the_meters_that_an_account_may_not_have_are_told_and_processor_times_are_there(far: AgentHost) -> None:
    far.loadgo("doctor", "--on", FAR)
    (agent,) = far.agents
    real = agent.rename(far.host.home / "real-agent")
    without_rights = f"setpriv --bounding-set=-all --inh-caps=-all {real} serve"
    agent.write_text(f'#!/bin/sh\n[ "$1" = serve ] || exec {real} "$@"\nexec {without_rights}\n')
    agent.chmod(0o755)
    far.run(*options("--for", "4s", "--quiet"))
    run, tables = far.run_toml(), loadgo.tables(far.folder / "kept")
    assert run["meters"]["tier"] == "none"
    assert "CAP_BPF" in "".join(run["meters"]["notes"])
    assert {"user", "idle", "iowait"} <= set(tables.time["category"].cast(pl.String))
    refused = far.loadgo("run", "work.toml", "--on", FAR, "--meters", "exact", "--out", "other", status=2)
    assert "the exact meters cannot be had" in refused.stderr
    assert not (far.folder / "other").exists()


def test_a_wrong_host_key_and_a_refused_log_in_are_told_before_anything_begins(far: AgentHost) -> None:
    far.with_ssh("-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes")
    assert "log in once with `ssh` and compare the key" in far.loadgo(*run_words(), status=2).stderr
    far.with_ssh("-o", "PubkeyAuthentication=no")
    assert "Permission denied" in far.loadgo(*run_words(), status=2).stderr
    assert not (far.folder / "kept").exists()


def test_users_share_the_agent_s_connection_where_a_log_in_of_their_own_would_be_asked(far: AgentHost) -> None:
    ssh = far.folder / "bin" / "ssh"
    plain = ssh.read_text().partition("exec ")[2]
    ssh.write_text(f"""#!/bin/sh
case "$*" in *ControlPath=none*) set -- -o PubkeyAuthentication=no "$@" ;; esac
exec {plain}""")
    out = far.run(*options("--for", "2s")).stdout
    run = far.run_toml()
    assert run["outcome"] == "done"
    assert "ControlPath=SOCKET" in run["system"]["login"]
    assert any("all users shared one connection" in note for note in run["notes"])
    assert "every line was answered" in out


def test_a_program_that_is_missing_there_is_told_before_anybody_logs_in(far: AgentHost) -> None:
    (far.folder / "work.toml").write_text(SCRIPT.replace('["cat"]', '["cat", "no-such-program"]'))
    err = far.loadgo(*run_words(), status=2).stderr
    assert f"the script needs `no-such-program`, which {FAR} does not have" in err
    assert not (far.folder / "kept").exists()


LOOP = "n=0; while [ $n -lt 200000 ]; do n=$((n+1)); done"
LOOPING = f"./far-loop -c '{LOOP}'"
"""No other test has programs of this name: the meters see those of tests that run at the same time, too."""
FAULTS = 20_000
TOUCHING = f"m = mmap.mmap(-1, {FAULTS} << 12); [m.__setitem__(n << 12, 1) for n in range({FAULTS})]"
FAULTING = f"python3 -I -c 'import mmap; {TOUCHING}'"
USING = f"""
name  = "far use"
login = "bash"
think = "fixed(0.4s)"
needs = ["bash", "python3"]
lines = ['ln -sf "$(command -v sh)" far-loop', {LOOPING!r}, {FAULTING!r}]
"""
USING_PASSES = 6
"""Number of times that each of two users types the lines. On a busy host a reading may cover parts of two lines."""


def test_what_interactions_use_there_is_what_the_kernel_s_meters_see(tmp_path: Path) -> None:
    with agent_host(tmp_path, other_boot=True) as far:
        (tmp_path / "work.toml").write_text(USING)
        before, name = stolen_ns(), f"use-of-far-{os.getpid()}"
        far.run("work.toml", "--on", FAR, "--users", "2", "--passes", f"{USING_PASSES}", out=name)
        stolen = stolen_ns() - before
        tables = loadgo.tables(tmp_path / name)
    usage = tables.conditions["usage"]
    assert usage["cpu"].startswith("cgroup")
    assert (usage["faults"], usage["waits"]) == ("taskstats", "kernel meters")
    mean = summarize(tables)
    assert any("CPU is known for" in note for note in mean.notes)
    loop, faulting = (next(row for row in mean.commands if row.name == name) for name in ("./far-loop", "python3"))
    assert min(loop.usage.measured, faulting.usage.measured) >= 3
    looped = tables.processes.filter(pl.col("who").cast(pl.String) == "far-loop")
    all_loops = 2 * USING_PASSES
    by_lines, by_meters = all_loops * loop.usage.cpu_ns, looped["cpu_ns"].sum()  # type: ignore[operator]
    # The meters charge a program the time that a hypervisor takes from it; the control group's account does not.
    assert 0.8 * by_lines <= by_meters <= 1.2 * by_lines + stolen
    assert FAULTS < faulting.usage.faults_minor < FAULTS + 4000  # type: ignore[operator]
    users = tables.processes.filter(pl.col("who").cast(pl.String) == "users")
    assert users["cpu_ns"].sum() >= 0.8 * by_lines
    assert looped["user"].unique().sort().to_list() == [1, 2], "the meters know whose programs they are"
    held = tables.memory.filter((pl.col("who").cast(pl.String) == "users") & pl.col("user").is_not_null())
    assert held["user"].unique().sort().to_list() == [1, 2]
    assert held["resident_bytes"].max() > 0  # type: ignore[operator]
    assert not groups_named(name)


def test_a_shell_over_ssh_that_leads_to_this_host_has_its_usage(tmp_path: Path) -> None:
    if sshd() is None:
        pytest.skip("there is no sshd: scripts/setup dev unpacks it")
    with agent_host(tmp_path) as far:
        (tmp_path / "work.toml").write_text(SCRIPT)
        far.run(*options("--for", "5s"))
        tables = loadgo.tables(far.folder / "kept")
        lines = tables.interactions.select(cpu=pl.col("cpu_user_ns") + pl.col("cpu_system_ns"))["cpu"].drop_nulls()
        assert len(lines) > 0
        users = tables.processes.filter(pl.col("who").cast(pl.String) == "users")
        # The meters' last span ends a little before the last lines do, so they may lack what these use meanwhile.
        assert users["cpu_ns"].sum() >= 0.9 * lines.sum() > 0, "the agent follows the shells, and no driver takes them"
        assert summarize(tables).driver.host_share is None, "the driver's time is not the other host's"
