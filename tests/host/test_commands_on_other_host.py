"""`capacity`, `ab`, `profile` and `watch` on another host: one log-in for all runs, and an agent's meters."""

import json
import os
import random
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import loadgo
import pytest
from support.agent_hosts import FAR, AgentHost, agent_host, eventually, groups_named, rows_came
from support.outside import NEEDS_ROOT

pytestmark = NEEDS_ROOT

SCRIPT = """
name  = "far work"
think = "uniform(20ms, 60ms)"
lines = [{ type = "true", as = "nothing", status = 0 }]
"""


@pytest.fixture
def far(tmp_path: Path) -> Iterator[AgentHost]:
    """A host with process ids of its own, whose `ssh` writes down the log-ins of agents, and a script."""
    with agent_host(tmp_path, apart=True) as host:
        (tmp_path / "work.toml").write_text(SCRIPT)
        ssh = tmp_path / "bin" / "ssh"
        count = f'case "$*" in *ControlMaster=yes*) echo >>{tmp_path}/log-ins ;; esac'
        ssh.write_text(ssh.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\n{count}\n"))
        yield host


def log_ins(far: AgentHost) -> int:
    """The number of log-ins of loadgo itself, without those of users."""
    return len((far.folder / "log-ins").read_text())


def search_words(trials: int, length: str, on: str = FAR) -> list[str]:
    lengths = ["--shortest", length, "--longest", length, "--trials", str(trials)]
    return ["capacity", "work.toml", "--target", "p90 < 20s", "--on", on, "--max-users", "2", *lengths]


def assert_at_least_2_users(answer: dict[str, Any]) -> None:
    """Check that a search up to 2 users, with a limit that any host meets, excludes neither 2 users nor more.

    Trials of 2 s may not settle on a busy host. The answer is then wide, but it must not be false.
    """
    assert answer["answer"] in (2, None), answer["in_words"]
    low, high = answer["interval"]
    assert low <= 2, answer["in_words"]
    assert high is None, answer["in_words"]


def test_a_search_on_another_host_logs_in_once_and_each_trial_has_that_host_s_meters(far: AgentHost) -> None:
    out = far.loadgo(*search_words(3, "2s"), "--out", "kept", "--format", "json").stdout
    answer = json.loads(out)
    assert_at_least_2_users(answer)
    assert (answer["on"], answer["servers"]) == (FAR, {"processors": os.cpu_count()})
    assert answer["neighbours"] is None
    assert f"the share of other work in the time of {FAR}" in " ".join(answer["notes"])
    assert all(0 < point["utilisation"]["processors"] <= 1 for point in answer["points"])
    trials = sorted(path for path in (far.folder / "kept").iterdir() if path.is_dir())
    assert len(trials) == answer["trials"] >= 2
    for trial in trials:
        tables = loadgo.tables(trial)
        assert tables.conditions["system"]["name"] == FAR
        assert len(tables.time) > 0
    assert log_ins(far) == 1


def test_a_search_on_several_hosts_has_users_on_each_and_logs_in_to_a_host_once(far: AgentHost) -> None:
    on = far.list_hosts("ash", "birch")
    answer = json.loads(far.loadgo(*search_words(2, "2s", on), "--out", "kept", "--format", "json").stdout)
    assert_at_least_2_users(answer)
    assert answer["servers"] == {"processors": 2 * (os.cpu_count() or 1)}
    assert all(point["users"] >= 2 and 0 < point["utilisation"]["processors"] <= 1 for point in answer["points"])
    assert "the hosts of hosts.toml" in " ".join(answer["notes"])
    assert log_ins(far) == 1, "both names are of one address"
    refused = far.loadgo(*search_words(2, "2s", far.list_hosts("ash", "birch", "cedar")), status=2).stderr
    assert "--max-users 2 are too few for the 3 hosts of hosts.toml" in " ".join(refused.split())


def test_an_interrupt_of_a_search_on_another_host_keeps_the_complete_trials(far: AgentHost) -> None:
    running = far.start(*search_words(20, "3s"), "--within", "1", "--out", "kept")
    kept = far.folder / "kept"
    eventually(
        lambda: running.poll() is not None or (kept.exists() and len([*kept.glob("trial-*/interactions.*")]) > 1),
        "no second trial begins",
    )
    running.send_signal(signal.SIGINT)
    ended = far.ended(running, 130)
    assert "The search was stopped" in " ".join(ended.stdout.split()), ended.stdout
    assert "users" in ended.stdout


def test_pairs_of_runs_on_another_host_share_a_log_in_and_their_cpu_is_compared(far: AgentHost) -> None:
    # The pauses are long beside the 50 ms between two readings there, also of an agent that is late.
    (far.folder / "work.toml").write_text(SCRIPT.replace("uniform(20ms, 60ms)", "uniform(300ms, 500ms)"))
    words = ("work.toml", "--users", "2", "--on-b", FAR, "--for", "3s", "--pairs", "2", "--out", "kept")
    out = " ".join(far.loadgo("ab", *words).stdout.split())
    document: dict[str, Any] = json.loads((far.folder / "kept" / "experiment.json").read_text())
    assert [document[side]["on"] for side in "ab"] == ["here", FAR]
    assert len(document["pairs"]) == 2
    assert all(pair["b"]["measures"][name] > 0 for pair in document["pairs"] for name in ("response", "cpu"))
    assert f"Its share is not known on {FAR}" in out or "The median of its share" in out
    assert log_ins(far) == 1


def test_several_hosts_are_a_side_of_an_experiment(far: AgentHost) -> None:
    on = far.list_hosts("ash", "birch")
    words = ("work.toml", "--users", "2", "--on-a", FAR, "--on-b", on, "--for", "2s", "--pairs", "1", "--out", "kept")
    far.loadgo("ab", *words)
    document: dict[str, Any] = json.loads((far.folder / "kept" / "experiment.json").read_text())
    assert [document[side]["on"] for side in "ab"] == [FAR, on]
    assert all(document["pairs"][0][side]["measures"]["response"] > 0 for side in "ab")
    assert log_ins(far) == 1
    refused = far.loadgo("ab", "work.toml", "--users", "1", "--on", on, "--for", "2s", status=2).stderr
    assert "are too few for 2 hosts" in " ".join(refused.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_experiment_that_is_broken_off_leaves_no_groups_and_no_directories(number: int, far: AgentHost) -> None:
    words = ("work.toml", "--users", "2", "--on-b", FAR, "--for", "10min", "--pairs", "2", "--out", "kept", "--seed")
    running = far.start("ab", *words, str(_seed_that_begins_with_b()))
    of_far = far.folder / "kept" / "001-b" / "other-host"
    eventually(lambda: running.poll() is not None or rows_came(of_far, "session_usage"), "no session is followed")
    eventually(lambda: len(groups_named("001-b")) >= 2 or os.geteuid() != 0, "sessions have no groups of their own")
    running.send_signal(number)
    far.ended(running, 130 if number == signal.SIGINT else -signal.SIGKILL)
    # What a killed loadgo has made on this host is undone by the next run from here.
    far.run("work.toml", "--on", FAR, "--users", "1", "--passes", "1", "--quiet", out="next")
    eventually(lambda: not groups_named("001-b"), "a control group stays")
    eventually(lambda: not _directories("001-b"), "a directory stays")


def _directories(run: str) -> list[Path]:
    """The directories that sessions of a run have made."""
    return [*Path(tempfile.gettempdir()).glob(f"loadgo-{run}-*")]


def _seed_that_begins_with_b() -> int:
    """A seed with which an experiment runs B first."""
    for seed in range(1, 100):
        letters = ["A", "B"]
        random.Random(seed).shuffle(letters)
        if letters[0] == "B":
            return seed
    raise AssertionError


def test_another_host_is_profiled_and_watched_by_its_meters(far: AgentHost) -> None:
    profile = json.loads(far.loadgo("profile", "--on", FAR, "--for", "2s", "--format", "json").stdout)
    assert profile["of"] == FAR
    assert profile["segments"]
    assert profile["stacks"]
    picture = far.loadgo("watch", "--on", FAR, "--once").stdout
    assert "processors" in picture.lower()
