"""Batch jobs in process accounting: what people run without a terminal is a class of its own, with its pauses."""

from __future__ import annotations

from pathlib import Path

import loadgo
import pytest
from loadgo.errors import Refused
from loadgo.observation import accounting
from support.accounting_records import EPOCH_S, MadeProcess, MadeSession, written_accounting
from support.log_files import runs


def observed(tmp_path: Path, *processes: MadeProcess, **settings: object) -> loadgo.Observation:
    return loadgo.observe(written_accounting(tmp_path / "pacct", processes), **settings)  # type: ignore[arg-type]


def job(command: str, pid: int, parent: int, began_s: int = 0, elapsed_s: float = 10.0, **use: float) -> MadeProcess:
    """A process without a terminal, which begins `began_s` after the first."""
    settings = {"user_s": 2.0, **use}
    return MadeProcess(command, pid, parent, EPOCH_S + began_s, elapsed_s, terminal=0, **settings)  # type: ignore[arg-type]


def test_jobs_are_a_class_beside_those_who_type(tmp_path: Path) -> None:
    typed = MadeSession(100, began_s=EPOCH_S).typed("ls").typed("cat").processes()
    observation = observed(tmp_path, job("solver", 501, 500), *typed)
    assert [(group.name, group.commands) for group in observation.groups] == [("all", 2), ("batch", 1)]
    assert observation.division.endswith("and a class of batch jobs")


def test_a_job_has_all_that_it_started_and_the_name_of_what_cron_ran(tmp_path: Path) -> None:
    observation = observed(
        tmp_path,
        job("cc1", 504, 503, user_s=3.0),
        job("make", 503, 502, user_s=0.1),
        job("sh", 502, 501, user_s=0.0),
        job("CRON", 501, 500, user_s=0.0),
    )
    (row,) = observation.commands
    assert (row.group, row.command, row.processes) == ("batch", "make", 3)
    assert row.cpu_ns == pytest.approx(3.1e9)


def test_programs_that_only_wait_are_services(tmp_path: Path) -> None:
    waits = job("dbus-daemon", 502, 501, elapsed_s=28_800, user_s=0.5)
    observation = observed(tmp_path, waits, job("solver", 503, 501))
    assert runs(observation) == {"solver": 1}
    assert "1 process without a terminal and no batch jobs (services)" in " ".join(observation.report().split())
    with pytest.raises(Refused, match="a batch job in these records"):
        observed(tmp_path, waits)


def test_accounts_of_services_run_no_jobs_unless_they_are_asked_for(tmp_path: Path) -> None:
    service = job("indexer", 502, 501, uid=65_534)
    mine = job("solver", 503, 501, uid=1000)
    assert runs(observed(tmp_path, service, mine)) == {"solver": 1}
    assert runs(observed(tmp_path, service, mine, users=[65_534])) == {"indexer": 1}
    assert runs(observed(tmp_path, service, mine, job("other", 504, 501, uid=1001), without_users=[1000])) == {
        "other": 1
    }


def test_jobs_in_turn_are_one_session_with_pauses_and_jobs_at_once_are_several(tmp_path: Path) -> None:
    in_turn = [job("solver", 600 + turn, 500, began_s=40 * turn, elapsed_s=10) for turn in range(6)]
    observation = observed(tmp_path, *in_turn)
    (group,) = observation.groups
    assert (group.sessions, group.commands) == (1, 6)
    assert group.think_mean_ns == pytest.approx(30e9)
    assert 'think = "fixed(30s)"' in observation.text
    assert observation.equivalent_users == pytest.approx(6 * 40 / 210)
    at_once = [job("solver", 600 + each, 500, began_s=each, elapsed_s=100) for each in range(6)]
    (group,) = observed(tmp_path, *at_once).groups
    assert (group.sessions, group.think_mean_ns) == (6, None)


def test_a_long_pause_ends_a_session_of_jobs(tmp_path: Path) -> None:
    nightly = [job("backup", 600 + day, 500, began_s=86_400 * day) for day in range(3)]
    (group,) = observed(tmp_path, *nightly).groups
    assert (group.sessions, group.commands, group.think_mean_ns) == (3, 3, None)


def test_seconds_that_accounting_rounds_make_no_second_session(tmp_path: Path) -> None:
    first = job("solver", 601, 500, began_s=0, elapsed_s=10.9)
    second = job("solver", 602, 500, began_s=10, elapsed_s=5.0)
    (group,) = observed(tmp_path, first, second).groups
    assert (group.sessions, group.think_mean_ns) == (1, 0)


def test_too_many_processes_without_a_terminal_cost_no_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounting, "MOST_RECORDS", 10)
    typed = MadeSession(100).typed("ls").typed("cat").processes()
    many = [job("solver", 600 + each, 500) for each in range(9)]
    observation = observed(tmp_path, *many, *typed)
    assert runs(observation) == {"ls": 1, "cat": 1}
    assert "are too many to look for them" in " ".join(observation.report().split())


def test_jobs_of_a_system_account_count_if_it_is_asked_for(tmp_path: Path) -> None:
    mine = job("backup", 503, 501, uid=5)
    assert runs(observed(tmp_path, mine, users=[5])) == {"backup": 1}
    with pytest.raises(Refused, match="no command is left"):
        observed(tmp_path, mine)
