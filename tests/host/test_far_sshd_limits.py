"""A host whose sshd allows few sessions, or few log-ins at a time: who did not come in is told, and nothing stays."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import loadgo
import polars as pl
from support.agent_hosts import FAR, agent_host
from support.outside import LOOK_EVERY_S, NEEDS_ROOT

pytestmark = NEEDS_ROOT

SCRIPT = 'think = "uniform(0.1s, 0.3s)"\npasses = 3\nlines = ["true"]\n'


def test_users_beyond_the_sessions_of_a_shared_connection_are_told_with_the_remedy(tmp_path: Path) -> None:
    with agent_host(tmp_path, apart=True, settings=("MaxSessions=4",)) as far:
        (tmp_path / "work.toml").write_text(SCRIPT)
        ssh = tmp_path / "bin" / "ssh"
        plain = ssh.read_text().partition("exec ")[2]
        ssh.write_text(
            f'#!/bin/sh\ncase "$*" in *ControlMaster=no*) set -- -o PubkeyAuthentication=no "$@" ;; esac\nexec {plain}'
        )
        told = far.loadgo("run", "work.toml", "--on", FAR, "--users", "5", "--out", "kept", status=1)
    tables = loadgo.tables(tmp_path / "kept")
    outcomes = tables.sessions["outcome"].cast(pl.String).to_list()
    assert outcomes.count("done") == 2, "the connection itself and the agent have two of four sessions"
    assert outcomes.count("refused") == 3
    assert "3 were refused at log-in" in " ".join(told.stdout.split())
    assert "unless its MaxSessions is raised" in told.stderr
    assert tables.lost.filter(pl.col("what").cast(pl.String) == "log-in")["count"].sum() == 3


def test_log_ins_that_sshd_drops_are_told_with_the_remedy(tmp_path: Path) -> None:
    with agent_host(tmp_path, apart=True, settings=("MaxStartups=1:100:1",)) as far:
        (tmp_path / "work.toml").write_text(SCRIPT)
        told = far.loadgo("run", "work.toml", "--on", FAR, "--users", "6", "--out", "kept", status=1)
    outcomes = loadgo.tables(tmp_path / "kept").sessions["outcome"].cast(pl.String).to_list()
    assert outcomes.count("done") + outcomes.count("refused") == 6
    assert outcomes.count("refused") > 0
    assert "sshd dropped" in told.stderr
    assert "`MaxStartups`" in told.stderr


def test_a_log_in_that_sshd_drops_since_another_is_under_way_is_tried_again(tmp_path: Path) -> None:
    with agent_host(tmp_path, apart=True, settings=("MaxStartups=1:100:1",)) as far:
        with _log_in_under_way(far.host.port):
            told = far.loadgo("doctor", "--on", FAR, status=2)
            assert "ends the connection before the log-in" in told.stderr
        with _log_in_under_way(far.host.port, for_s=1.0):
            told = far.loadgo("doctor", "--on", FAR)
    assert "far" in told.stdout


@contextmanager
def _log_in_under_way(port: int, for_s: float | None = None) -> Iterator[None]:
    """A connection to sshd that does not log in. It ends after the time, or with the context."""
    with _taken_connection(port) as connection:
        if for_s is not None:
            threading.Timer(for_s, connection.shutdown, (socket.SHUT_RDWR,)).start()
        yield


def _taken_connection(port: int) -> socket.socket:
    """A connection that sshd has taken. Before it, sshd may still have one that was made to see whether it listens."""
    while True:
        connection = socket.create_connection(("127.0.0.1", port))
        if connection.recv(64).startswith(b"SSH-2.0"):
            return connection
        connection.close()
        time.sleep(LOOK_EVERY_S)
