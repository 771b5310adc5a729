"""Privacy of logs: a planted secret and names of people are in no file that is written, in any format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import loadgo
import pytest
from support.accounting_records import made_day, written_accounting
from support.command_line import typed
from support.damaged_logs import WRITERS
from support.log_files import (
    AtuinLine,
    MadeStart,
    TerminalEvent,
    terminal_session,
    tlog_messages,
    typed_line,
    written_atuin,
    written_audit_log,
    written_sudo_log,
    written_tlog,
)
from support.readable_files import readable_bytes

SECRETS = ("planted-secret", "anna", "PathOfAnna", "home/")
FORMATS = ("text", "html", "json", "csv", "md")
LOG_KINDS = [kind for kind in WRITERS if kind not in ("bash", "zsh")]


def written_by(folder: Path, *words: object) -> Iterator[bytes]:
    """All that the command writes: its files, and both its outputs."""
    folder.mkdir()
    told = typed(folder, "observe", *words, "-o", "a.toml", "--report", "report")
    yield from (readable_bytes(path) for path in folder.rglob("*") if path.is_file())
    yield from (told.stdout.encode(), told.stderr.encode())


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", LOG_KINDS)
def test_no_secret_is_in_any_output(tmp_path: Path, kind: str, format: str) -> None:
    log = WRITERS[kind](tmp_path / "PathOfAnna")
    outputs = list(written_by(tmp_path / "out", "--from", log, "--format", format))
    assert len(outputs) == 5
    assert all(secret.encode() not in output for secret in SECRETS for output in outputs)
    assert any(b"sh stand-in.sh" in output for output in outputs)


@pytest.mark.parametrize("kind", [kind for kind in LOG_KINDS if kind != "audit"])
def test_no_secret_of_a_log_of_think_times_is_in_any_output(tmp_path: Path, kind: str) -> None:
    records, log = written_accounting(tmp_path / "pacct", made_day()), WRITERS[kind](tmp_path / "PathOfAnna")
    outputs = list(written_by(tmp_path / "out", "--from", records, "--think-from", log))
    assert all(secret.encode() not in output for secret in SECRETS for output in outputs)
    assert any(b"\nthink   =" in output for output in outputs)


def test_a_secret_that_stands_where_a_program_would_is_other(tmp_path: Path) -> None:
    lines = ["planted-secret", "ls;planted-secret", "/home/anna/planted-secret x", "A=planted-secret ls"]
    password = [TerminalEvent(9, False, "Password: "), *typed_line("planted-secret", is_echoed=False)]
    events = [*terminal_session(lines)[:-1], *password]
    logs = [
        written_tlog(tmp_path / "tlog", tlog_messages(events)),
        written_atuin(tmp_path / "atuin", [AtuinLine(line, 9.0 * n) for n, line in enumerate(lines)]),
    ]
    for log in logs:
        observation = loadgo.observe(log)
        assert {row.command for row in observation.commands} == {"other", "ls"}
        assert "planted-secret" not in observation.text


def test_a_program_that_was_typed_by_mistake_into_a_password_is_not_named(tmp_path: Path) -> None:
    events = [TerminalEvent(5, False, "$ "), *typed_line("cat", is_echoed=False), *typed_line("ls")]
    observation = loadgo.observe(written_tlog(tmp_path / "tlog", tlog_messages(events)))
    assert {row.command for row in observation.commands} == {"other", "ls"}


def test_names_of_programs_are_hashed_where_asked_for(tmp_path: Path) -> None:
    log = written_audit_log(tmp_path / "log", [MadeStart("bash", 5, 4, 1), MadeStart("thesis", 6, 5, 2)])
    observation = loadgo.observe(log, names="none")
    assert "thesis" not in observation.text + observation.report() + observation.report("json")
    folder = written_sudo_log(tmp_path / "io", [], "/usr/bin/thesis")
    assert "thesis" not in loadgo.observe(folder, names="none").text
