"""Sessions from process accounting: a command has all that it started, and a shell's own processes are no commands."""

from __future__ import annotations

from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument, Refused
from support.accounting_records import EPOCH_S, MadeProcess, MadeSession, written_accounting
from support.log_files import runs


def observed(tmp_path: Path, *processes: MadeProcess, **settings: object) -> loadgo.Observation:
    return loadgo.observe(written_accounting(tmp_path / "pacct", processes), **settings)  # type: ignore[arg-type]


def child(command: str, pid: int, parent: int, **use: float) -> MadeProcess:
    return MadeProcess(command, pid, parent, EPOCH_S + 10, **use)  # type: ignore[arg-type]


SHELL = MadeProcess("bash", 100, 90, EPOCH_S, 60)


def test_a_command_has_the_time_faults_and_processes_of_all_that_it_started(tmp_path: Path) -> None:
    observation = observed(
        tmp_path,
        child("cc1", 303, 302, user_s=0.5, system_s=0.1, faults=3000, memory_kb=40_000),
        child("gcc", 302, 301, user_s=0.02, faults=200),
        child("make", 301, 100, user_s=0.03, elapsed_s=0.9, faults=100),
        SHELL,
    )
    (row,) = observation.commands
    assert (row.command, row.count, row.processes) == ("make", 1, 3)
    assert row.cpu_ns == pytest.approx(0.65e9)
    assert row.faults_minor == pytest.approx(3300, rel=0.001)
    assert row.elapsed_ns == pytest.approx(0.9e9)
    assert row.jobs[0].held_pages == 10_000


def test_a_shell_that_lives_on_has_a_session_too(tmp_path: Path) -> None:
    observation = observed(tmp_path, child("ls", 101, 100), child("cat", 102, 100), child("ls", 201, 200))
    assert runs(observation) == {"ls": 2, "cat": 1}
    assert observation.sessions == 2


def test_a_script_run_by_a_shell_that_lives_on_is_one_command(tmp_path: Path) -> None:
    observation = observed(tmp_path, child("sed", 102, 101), child("sh", 101, 100), child("ls", 103, 100))
    assert runs(observation) == {"ls": 1, "sh": 1}


def test_a_number_that_is_used_again_makes_no_wrong_parent(tmp_path: Path) -> None:
    later = MadeProcess("bash", 100, 90, EPOCH_S + 500, 60)
    again = MadeProcess("vim", 101, 100, EPOCH_S + 510)
    observation = observed(tmp_path, child("ls", 101, 100), SHELL, again, later)
    assert observation.sessions == 2
    assert runs(observation) == {"ls": 1, "vim": 1}


def test_forks_for_a_prompt_are_left_out_and_subshells_that_work_are_not(tmp_path: Path) -> None:
    observation = observed(
        tmp_path,
        child("bash", 101, 100, flag=1),
        child("sort", 103, 102, user_s=0.2),
        child("bash", 102, 100, flag=1),
        child("ls", 104, 100),
        SHELL,
    )
    assert runs(observation) == {"ls": 1, "subshell": 1}
    assert "1 process of shells, without a program" in observation.report()


def test_a_process_whose_parent_ended_is_left_out_and_counted(tmp_path: Path) -> None:
    observation = observed(tmp_path, child("sleep", 101, 1), child("ls", 102, 100), SHELL)
    assert runs(observation) == {"ls": 1}
    assert "1 process whose parent had ended" in observation.report()


def test_people_are_chosen_by_number_and_left_out_by_name(tmp_path: Path) -> None:
    mine = MadeSession(100, uid=1000).typed("ls").processes()
    roots = MadeSession(200, uid=0, terminal=0x8802).typed("dmesg").processes()
    assert runs(observed(tmp_path, *mine, *roots, users=["1000"])) == {"ls": 1}
    assert runs(observed(tmp_path, *mine, *roots, without_users=["root"])) == {"ls": 1}
    with pytest.raises(Refused, match="no command is left of 4 processes"):
        observed(tmp_path, *mine, *roots, users=[77])
    with pytest.raises(BadArgument, match="no account 'nobody-here'"):
        observed(tmp_path, *mine, users=["nobody-here"])


def test_strange_names_become_plain_ones(tmp_path: Path) -> None:
    observation = observed(tmp_path, child("tmux: server", 101, 100), child(b"\xff\x1b[1m", 102, 100), SHELL)  # type: ignore[arg-type]
    assert runs(observation) == {"___1m": 1, "tmux__server": 1}


def test_a_shell_behind_a_log_in_program_has_the_session_and_su_within_one_is_a_command(tmp_path: Path) -> None:
    begun_by_su = [
        child("ls", 103, 102, uid=1000),
        MadeProcess("bash", 102, 101, EPOCH_S, 50),
        MadeProcess("su", 101, 90, EPOCH_S, 55, uid=0),
    ]
    observation = observed(tmp_path, *begun_by_su)
    assert runs(observation) == {"ls": 1}
    within = [
        child("ls", 103, 102, uid=0),
        child("bash", 102, 101, uid=0),
        child("su", 101, 100),
        child("vim", 104, 100),
        SHELL,
    ]
    assert runs(observed(tmp_path, *within)) == {"su": 1, "vim": 1}
