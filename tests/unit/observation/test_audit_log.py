"""The log of auditd: children of a session's shell are commands, and what these start is a part of them."""

from __future__ import annotations

from pathlib import Path

import loadgo
import pytest
from loadgo.errors import BadArgument, Refused
from loadgo.observation.logs import audit_log
from support.log_files import MadeStart, audit_session, runs, written_audit_log


def observed(tmp_path: Path, *starts: MadeStart, **form: object) -> loadgo.Observation:
    return loadgo.observe(written_audit_log(tmp_path / "audit.log", starts, **form))


def child(name: str, pid: int, parent: int, at_s: float = 10.0, **more: object) -> MadeStart:
    return MadeStart(name, pid, parent, at_s, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", [{}, {"is_enriched": False}, {"node": "login1"}])
def test_commands_are_children_of_the_shell(tmp_path: Path, form: dict[str, object]) -> None:
    observation = observed(tmp_path, *audit_session(30), **form)
    assert runs(observation) == {"ls": 20, "make": 10}
    assert (observation.sessions, observation.people, observation.span_s) == (1, 1, 290.0)
    assert not observation.warnings
    assert "auditd is told when a program begins" in " ".join(observation.report().split())


def test_a_shell_that_began_before_the_log_has_a_session_too(tmp_path: Path) -> None:
    assert runs(observed(tmp_path, *audit_session(6)[1:])) == {"ls": 4, "make": 2}


def test_a_first_shell_whose_parent_starts_more_is_a_command(tmp_path: Path) -> None:
    starts = [child("bash", 11, 10, 1), child("sed", 12, 11, 1.1), child("ls", 13, 10, 20), child("ls", 14, 10, 30)]
    assert runs(observed(tmp_path, *starts)) == {"bash": 1, "ls": 2, "sed": 1}


def test_a_shell_behind_a_log_in_program_has_the_session_and_sudo_in_one_is_a_command(tmp_path: Path) -> None:
    log_in = [child("su", 11, 10, 1), child("bash", 12, 11, 2), child("ls", 13, 12, 3)]
    assert runs(observed(tmp_path, *log_in)) == {"ls": 1}
    within = [child("sudo", 11, 10, 1), child("dmesg", 12, 11, 1.1), child("ls", 13, 10, 9)]
    assert runs(observed(tmp_path, *within)) == {"sudo": 1, "ls": 1}


def test_a_script_is_named_for_its_file_and_is_no_shell(tmp_path: Path) -> None:
    starts = [child("bash", 10, 9, 1), child("nightly.sh", 11, 10, 2, file="/usr/bin/bash"), child("ls", 12, 11, 3)]
    assert runs(observed(tmp_path, *starts)) == {"nightly.sh": 1}


def test_a_program_that_a_command_becomes_is_the_same_command(tmp_path: Path) -> None:
    starts = [child("bash", 10, 9, 1), child("env", 11, 10, 2), child("ls", 11, 10, 2.1)]
    assert runs(observed(tmp_path, *starts)) == {"env": 1}


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    starts = [
        child("cron", 5, 1, 1, terminal="(none)"),
        child("bash", 10, 9, 1),
        child("ls", 11, 10, 2),
        child("nothing", 12, 10, 3, succeeds=False),
        child("cc1", 14, 13, 4),
    ]
    observation = observed(tmp_path, *starts)
    assert observation.notes == (
        "1 program without a terminal (services, batch jobs).",
        "1 program that could not be started.",
        "1 program whose parent has no record.",
    )


def test_strange_names_become_plain_ones(tmp_path: Path) -> None:
    starts = [child("bash", 10, 9, 1), child("tmux: server", 11, 10, 2), child("na\u00efve", 12, 10, 3)]
    assert runs(observed(tmp_path, *starts)) == {"na__ve": 1, "tmux__server": 1}


def test_records_of_two_processors_may_be_mixed(tmp_path: Path) -> None:
    lines = [
        start.records(100 + number).encode().splitlines(keepends=True) for number, start in enumerate(audit_session(8))
    ]
    path = tmp_path / "audit.log"
    path.write_bytes(b"".join(lines[0]) + b"".join(line for pair in zip(*lines[1:], strict=True) for line in pair))
    assert runs(loadgo.observe(path)) == {"ls": 5, "make": 3}


def test_a_clock_that_is_set_back_begins_a_new_session_and_is_told(tmp_path: Path) -> None:
    starts = [child("bash", 10, 9, 7000), child("ls", 11, 10, 7010), child("ls", 12, 10, 10), child("ls", 13, 10, 20)]
    observation = observed(tmp_path, *starts)
    assert observation.sessions == 2
    assert runs(observation) == {"ls": 3}
    assert observation.notes == ("1 clock step back; a new session begins behind each.",)


def test_numbers_that_are_used_again_after_a_boot_are_another_session(tmp_path: Path) -> None:
    path = written_audit_log(tmp_path / "audit.log", audit_session(6))
    boot = "type=SYSTEM_BOOT msg=audit(1760001000.000:5): pid=1 uid=0 auid=4294967295 ses=4294967295 msg='comm=\"x\"'\n"
    later = written_audit_log(tmp_path / "later", audit_session(6, shell_pid=700, began_s=2000))
    path.write_text(path.read_text() + boot + later.read_text())
    observation = loadgo.observe(path)
    assert observation.sessions == 2
    assert runs(observation) == {"ls": 8, "make": 4}
    assert not observation.notes


def test_more_terminals_than_are_followed_at_once_end_the_oldest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_log, "MOST_OPEN_TERMINALS", 2)
    starts = [start for number in range(9) for start in audit_session(3, session=number)]
    assert observed(tmp_path, *starts).sessions == 9


def test_damage_is_a_loss_with_its_place(tmp_path: Path) -> None:
    path = written_audit_log(tmp_path / "audit.log", audit_session(30))
    content = path.read_bytes()
    path.write_bytes(content[:1200] + bytes(300) + b"\n" + content[1500:])
    observation = loadgo.observe(path)
    assert "line that is no record, left out; the first is at byte" in observation.warnings[0]


def test_a_program_without_its_system_call_is_a_loss(tmp_path: Path) -> None:
    path = written_audit_log(tmp_path / "audit.log", audit_session(30))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for number, line in enumerate(lines) if number != 8))
    assert loadgo.observe(path).warnings == ("The source has 1 program whose system call has no record, left out.",)


def test_people_are_chosen_by_the_account_that_logged_in(tmp_path: Path) -> None:
    starts = [*audit_session(3), *(child("ls", 900 + n, 899, n, person=0, terminal="pts7") for n in range(2))]
    path = written_audit_log(tmp_path / "audit.log", starts)
    assert runs(loadgo.observe(path, users=["root"])) == {"ls": 2}
    assert runs(loadgo.observe(path, without_users=[0])) == {"ls": 2, "make": 1}


def test_a_log_without_programs_is_refused_with_the_rule(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_text("type=USER_LOGIN msg=audit(1760000000.000:5): pid=1 uid=0\n" * 9)
    with pytest.raises(Refused, match=r"no program began in 9 records of this log.*-S execve"):
        loadgo.observe(path)


def test_a_log_that_ausearch_interpreted_is_refused_with_the_option(tmp_path: Path) -> None:
    path = written_audit_log(tmp_path / "audit.log", audit_session(2))
    path.write_text(path.read_text() + "type=SYSCALL msg=audit(11/29/2026 10:00:00.5:9) : arch=x86_64\n" * 99)
    with pytest.raises(Refused, match="lines are no records of auditd: `ausearch --raw`"):
        loadgo.observe(path)


def test_it_has_no_think_times(tmp_path: Path) -> None:
    path = written_audit_log(tmp_path / "audit.log", audit_session(30))
    assert loadgo.observe(path).think is None
    with pytest.raises(BadArgument, match="has no think times"):
        loadgo.observe(path, think_from=path)
