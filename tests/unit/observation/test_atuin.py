"""The history of atuin: durations and think times of each shell, and what is no line of a person is left out."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import Refused
from support.accounting_records import made_day, written_accounting
from support.log_files import AtuinLine, atuin_lines, runs, written_atuin


def test_lines_have_durations_and_the_pauses_between_them(tmp_path: Path) -> None:
    observation = loadgo.observe(written_atuin(tmp_path / "history.db", atuin_lines()))
    assert runs(observation) == {"ls": 40}
    assert observation.commands[0].elapsed_ns == pytest.approx(0.5e9)
    assert observation.think is not None
    assert (observation.think.measured, observation.think.mean_ns) == (39, pytest.approx(9.5e9))
    assert not observation.think.is_upper_bound
    assert "39 pauses, with the typing in them" in " ".join(observation.report().split())


def test_shells_side_by_side_are_sessions_of_their_own(tmp_path: Path) -> None:
    lines = [AtuinLine(f"ls {n}", 5.0 * n, session=f"s{n % 2}", host=f"vm:user{n % 2}") for n in range(40)]
    observation = loadgo.observe(written_atuin(tmp_path / "history.db", lines))
    assert (observation.sessions, observation.people) == (2, 2)
    assert observation.think is not None
    assert observation.think.mean_ns == pytest.approx(9.5e9)
    assert runs(loadgo.observe(tmp_path / "history.db", users=["user1"])) == {"ls": 20}


def test_lines_without_a_duration_and_deleted_ones_are_counted(tmp_path: Path) -> None:
    lines = [*atuin_lines(5), AtuinLine("vim", 60, -1), AtuinLine("vim", 70, is_deleted=True)]
    observation = loadgo.observe(written_atuin(tmp_path / "history.db", lines))
    assert runs(observation) == {"ls": 5}
    assert observation.notes == (
        "1 line without a duration: imported, or still running.",
        "1 line that the person deleted.",
    )


def test_absences_and_clock_steps_end_a_session(tmp_path: Path) -> None:
    lines = [AtuinLine(f"ls {at_s}", at_s) for at_s in (7000, 7010, 9000, 9010, 100, 110)]
    observation = loadgo.observe(written_atuin(tmp_path / "history.db", lines))
    assert observation.sessions == 3
    assert observation.notes == ("1 clock step back; a new session begins behind each.",)
    assert observation.think is not None
    assert (observation.think.measured, observation.think.absences) == (3, 1)


def test_names_that_are_no_text_are_other(tmp_path: Path) -> None:
    lines = [*atuin_lines(2), AtuinLine(b"\xff\xfe\x00", 100), AtuinLine("x" * 100_000, 110)]
    assert runs(loadgo.observe(written_atuin(tmp_path / "history.db", lines))) == {"ls": 2, "other": 2}


def test_nothing_is_written_beside_the_history(tmp_path: Path) -> None:
    path = written_atuin(tmp_path / "history.db", atuin_lines())
    loadgo.observe(path)
    assert list(tmp_path.iterdir()) == [path]


def test_changes_that_are_not_merged_yet_are_read(tmp_path: Path) -> None:
    path = written_atuin(tmp_path / "history.db", atuin_lines(5))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute(
            "INSERT INTO history VALUES ('x', 1760000090000000000, 7, 0, 'cat', '/', 's1', 'vm:a', NULL)"
        )
        connection.commit()
        assert runs(loadgo.observe(path)) == {"ls": 5, "cat": 1}


def test_accounting_takes_think_times_from_it(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    path = written_atuin(tmp_path / "history.db", atuin_lines())
    assert loadgo.observe(records, think_from=path).think == loadgo.observe(path).think


TABLES = {
    "no table": ("CREATE TABLE other (id)", "lacks `timestamp`"),
    "columns": ("CREATE TABLE history (timestamp, command)", "lacks `duration`"),
    "view": (
        "CREATE VIEW history AS WITH RECURSIVE c(timestamp) AS (SELECT 1 UNION ALL SELECT timestamp + 1 FROM c) SELECT "
        "timestamp, 1 duration, 'ls' command, '' session, '' hostname FROM c",
        "no history of atuin",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_other_databases_are_refused(tmp_path: Path, name: str) -> None:
    table, words = TABLES[name]
    with closing(sqlite3.connect(tmp_path / "history.db")) as connection, connection:
        connection.execute(table)
    with pytest.raises(Refused, match=words):
        loadgo.observe(tmp_path / "history.db")


def test_values_that_cannot_be_are_a_loss(tmp_path: Path) -> None:
    path = written_atuin(tmp_path / "history.db", atuin_lines(5))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE history SET timestamp = 'soon' WHERE id = '1'")
        connection.execute("UPDATE history SET duration = 9223372036854775807 WHERE id = '2'")
        connection.execute("UPDATE history SET timestamp = -5 WHERE id = '3'")
    observation = loadgo.observe(path)
    assert runs(observation) == {"ls": 2}
    assert observation.warnings == ("The source has 3 rows whose values cannot be, left out.",)


def test_a_damaged_file_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    path = written_atuin(tmp_path / "history.db", atuin_lines(3000))
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 60_000] = bytes(60_000)
    path.write_bytes(content)
    observation = loadgo.observe(path)
    assert observation.warnings[0].startswith("The source is damaged behind row ")
    path.write_bytes(content[:200])
    with pytest.raises(Refused, match="cannot be read as a database of SQLite"):
        loadgo.observe(path)
