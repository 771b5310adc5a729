"""`loadgo ab` on this host and over ssh and su: twice the work is found, and an interrupt keeps complete pairs."""

import json
import os
import signal
from contextlib import ExitStack

from support.far_programs import needs_sshd
from support.outside import NEEDS_ROOT, Bench, finished, left_behind, wait_until
from support.ssh_host import ssh_host

SPIN = """
name = "spin"
think = "uniform(20ms, 60ms)"
typing = "2000 chars/s"
lines = [{{ type = "i=0; while [ $i -lt {count} ]; do i=$((i + 1)); done", as = "spin", status = 0 }}]
"""
UNMETERED = ("--meters", "none")
"""Usage is the control groups' here: to load the kernel's meters takes each run a third of a second of a processor."""
SPIN_BY_HOST = SPIN.format(count="$COUNT")
"""A line whose work the account that users log in to decides, by its variable COUNT."""


def test_twice_the_work_is_found(bench: Bench) -> None:
    a, b = (bench.script(SPIN.format(count=count), name) for name, count in (("a", 5000), ("b", 10000)))
    load = ("--users", "2", "--for", "1s", "--measure", "cpu", "--pairs", "20", *UNMETERED)
    document = json.loads(bench.typed("ab", a, b, *load, "--format", "json", "--out", "kept").stdout)
    assert document["end"] == "decided", document["answer"]
    cpu = next(change for change in document["changes"] if change["measure"] == "cpu")
    assert cpu["verdict"] == "worse"
    assert cpu["change"] > 0.3
    assert cpu["interval"]["low"] <= cpu["change"] <= cpu["interval"]["high"]
    assert (bench.folder / "kept" / "experiment.json").exists()


def test_an_interrupt_keeps_the_pairs_that_are_complete(bench: Bench) -> None:
    script = bench.script(SPIN.format(count=2000))
    running = bench.start("ab", script, "--users", "1", "--for", "1s", "--margin", "0.01%", "--out", "kept")
    result = bench.folder / "kept" / "experiment.json"
    wait_until(lambda: result.exists() and bool(json.loads(result.read_text())["pairs"]), running)
    os.kill(running.pid, signal.SIGINT)
    ended = finished(running)
    assert ended.returncode == 130, ended.stderr
    assert "The experiment was stopped" in ended.stdout
    document = json.loads(result.read_text())
    assert document["end"] == "stopped"
    assert document["pairs"]
    assert left_behind(bench) == []


@NEEDS_ROOT
def test_one_script_on_two_hosts(bench: Bench) -> None:
    needs_sshd()
    with ExitStack() as hosts:
        logins = []
        for name, count in (("quick", 5000), ("slow", 10000)):
            host = hosts.enter_context(ssh_host(bench.folder / name))
            (host.home / ".bash_profile").write_text(f"COUNT={count}\n")
            logins.append(host.login)
        script = bench.script(SPIN_BY_HOST)
        load = ("--users", "2", "--for", "1s", "--measure", "cpu", "--pairs", "20", *UNMETERED, "--format", "json")
        bench.typed("ab", script, "--login-a", logins[0], "--login-b", logins[1], *load, "--out", "kept")
    document = json.loads((bench.folder / "kept" / "experiment.json").read_text())
    assert document["end"] == "decided", document["answer"]
    assert [document[side]["login"] for side in "ab"] == logins
    assert next(change["verdict"] for change in document["changes"] if change["measure"] == "cpu") == "worse"
    kept = [bench.tables(f"kept/001-{side}").conditions["system"]["login"] for side in "ab"]
    assert kept == logins
    shown = bench.typed("report", "kept").stdout
    assert all(f"login `{login}`" in " ".join(shown.split()) for login in logins)


@NEEDS_ROOT
def test_another_host_is_compared_by_its_responses(bench: Bench) -> None:
    needs_sshd()
    with ssh_host(bench.folder / "far", apart=True) as host:
        script = bench.script(SPIN.format(count=2000))
        shown = bench.typed("ab", script, "--login-b", host.login, "--for", "1s", "--pairs", "1").stdout
    words = " ".join(shown.split())
    assert "Not known on both sides, so without a verdict: CPU. The users of B were on another host" in words
    assert "of this host's, not of the hosts logged in to, processors' time" in words
    assert f"B: {script}, login `{host.login}`" in words


@NEEDS_ROOT
def test_two_accounts_by_su(bench: Bench) -> None:
    script = bench.script(SPIN.format(count=2000))
    logins = [f"su {account} -s /bin/bash" for account in ("nobody", "daemon")]
    load = ("--for", "1s", "--pairs", "1", "--format", "json")
    by_option = ("--login", logins[0], "--login-b", logins[1])
    document = json.loads(bench.typed("ab", script, *by_option, *load, "--out", "kept").stdout)
    assert [document[side]["login"] for side in "ab"] == logins
    assert {change["measure"] for change in document["changes"]} >= {"response", "cpu"}
    assert all(set(bench.tables(f"kept/001-{side}").interactions["exit_status"]) == {0} for side in "ab")
