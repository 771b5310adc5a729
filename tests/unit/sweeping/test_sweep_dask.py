"""Sweeps on Dask: a cluster that loadgo starts, and a scheduler and workers as processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from loadgo.errors import Refused
from support.processes import (
    LONGEST_WAIT_S,
    finished,
    interrupted,
    members,
    start,
    wait_for_points,
    wait_until,
    wait_until_gone,
)
from support.sweeps import contents

pytestmark = pytest.mark.processes


def certificates(folder: Path) -> dict[str, str]:
    """Keys for all roles of a cluster as files, and Dask's configuration that names them."""
    from distributed.security import Security

    security = Security.temporary()
    (folder / "ca.pem").write_text(security.tls_ca_file)
    (folder / "key.pem").write_text(security.tls_client_key)
    names = {"CA_FILE": "ca.pem"}
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        names |= {f"{role}__CERT": "ca.pem", f"{role}__KEY": "key.pem"}
    tls = {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(folder / file) for name, file in names.items()}
    return tls | {"DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"}


@pytest.fixture(params=["tcp", "tls"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, dict[str, str], list[int]]]:
    """The address of a scheduler with two workers on the loopback, its configuration, and the workers' sessions."""
    settings = certificates(tmp_path) if request.param == "tls" else {}
    place = ("--host", "127.0.0.1", "--protocol", request.param)
    file = tmp_path / "scheduler.json"
    scheduler = start(
        tmp_path, *place, "--port", "0", "--no-dashboard", "--scheduler-file", str(file),
        module="distributed.cli.dask_scheduler", **settings,
    )  # fmt: skip
    started: list[subprocess.Popen[str]] = [scheduler]
    try:
        wait_until(lambda: file.exists() and file.read_text().endswith("}"))
        address = json.loads(file.read_text())["address"]
        for _ in range(2):
            options = (
                "--nthreads",
                "1",
                "--no-dashboard",
                "--no-nanny",
                "--host",
                "127.0.0.1",
                "--local-directory",
                ".",
            )
            started.append(start(tmp_path, address, *options, module="distributed.cli.dask_worker", **settings))
        yield address, settings, [worker.pid for worker in started[1:]]
    finally:
        # By SIGKILL: a worker of Dask may hang in its orderly end when its scheduler ends too.
        for process in started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in started:
            process.communicate(timeout=LONGEST_WAIT_S)
            wait_until_gone(process.pid)


def test_a_cluster_of_this_host_gives_the_same_bytes_and_ends(long_sweep: Path, tmp_path: Path) -> None:
    process = start(long_sweep, "sweep", "grid.toml", "--workers", "dask", "--out", str(tmp_path / "out"))
    out, error = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 0, error
    assert out.startswith("40 simulations (2 configurations, 20 seeds each: users 3 and 4): ")
    assert "Traceback" not in error
    assert contents(tmp_path / "out") == contents(long_sweep / "whole")
    wait_until_gone(process.pid)


def test_a_cluster_of_this_host_is_encrypted(tmp_path: Path) -> None:
    program = (
        "from loadgo.distribution.dask_workers import DaskWorkers\n"
        "if __name__ == '__main__':\n"
        "    workers = DaskWorkers()\n"
        "    print(workers.address)\n"
        "    workers.end()\n"
    )
    (tmp_path / "program.py").write_text(program)
    address = subprocess.check_output([sys.executable, tmp_path / "program.py"], text=True, timeout=LONGEST_WAIT_S)
    assert address.startswith("tls://127.0.0.1:")


def test_an_interrupt_ends_the_cluster_and_the_sweep_goes_on_elsewhere(long_sweep: Path, tmp_path: Path) -> None:
    process = start(long_sweep, "sweep", "grid.toml", "--workers", "dask", "--out", str(tmp_path / "out"))
    done = wait_for_points(tmp_path / "out", 2)
    out, _ = interrupted(process)
    assert "The sweep was stopped: " in out
    assert finished(long_sweep, "sweep", "grid.toml", "--workers", "2", "--out", str(tmp_path / "out"))[0] == 0
    assert {file: file.stat().st_mtime_ns for file in done} == done
    assert contents(tmp_path / "out") == contents(long_sweep / "whole")


def test_a_scheduler_gives_the_same_bytes_also_when_a_worker_is_killed(
    long_sweep: Path, tmp_path: Path, cluster: tuple[str, dict[str, str], list[int]]
) -> None:
    address, settings, workers = cluster
    process = start(long_sweep, "sweep", "grid.toml", "--workers", address, "--out", str(tmp_path / "out"), **settings)
    wait_for_points(tmp_path / "out", 2)
    os.killpg(workers[0], signal.SIGKILL)
    out, error = process.communicate(timeout=LONGEST_WAIT_S)
    assert process.returncode == 0, error
    assert out.startswith("40 simulations (2 configurations, 20 seeds each: users 3 and 4): ")
    assert contents(tmp_path / "out") == contents(long_sweep / "whole")
    assert members(workers[1]), "loadgo ends no worker that it did not start"


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from loadgo.distribution import dask_workers

    monkeypatch.setattr(dask_workers, "CONNECT_LIMIT_S", 1)
    with pytest.raises(Refused, match=r"the Dask cluster at tcp://127\.0\.0\.1:9 does not answer with a worker"):
        dask_workers.DaskWorkers("tcp://127.0.0.1:9")


def test_a_scheduler_with_tls_needs_certificates() -> None:
    from loadgo.distribution import dask_workers

    with pytest.raises(Refused, match=r"at tls://127\.0\.0\.1:9 .* with loadgo and the same certificates"):
        dask_workers.DaskWorkers("tls://127.0.0.1:9")
