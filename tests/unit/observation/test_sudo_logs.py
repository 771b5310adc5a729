"""I/O logs of sudo: packed or not, a session of a shell has its lines, and damage is told with its place."""

from __future__ import annotations

import gzip
import os
import re
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import Refused
from support.accounting_records import made_day, written_accounting
from support.log_files import runs, terminal_session, written_sudo_log

LINES = ["ls planted-secret", "planted-secret"] * 10


@pytest.mark.parametrize("is_packed", [True, False])
@pytest.mark.parametrize("has_json", [True, False])
def test_lines_of_a_shell_have_its_name_and_their_times(tmp_path: Path, is_packed: bool, has_json: bool) -> None:
    written_sudo_log(tmp_path / "io/00/00/01", terminal_session(LINES), is_packed=is_packed, has_json=has_json)
    written_sudo_log(tmp_path / "io/00/00/02", [], "/usr/sbin/fdisk", person="bert")
    observation = loadgo.observe(tmp_path / "io")
    assert runs(observation) == {"bash": 20, "fdisk": 1}
    assert (observation.people, observation.sessions) == (2, 2)
    assert observation.think is not None
    assert observation.think.mean_ns == pytest.approx(2e9)
    assert observation.typing is not None
    assert observation.typing.keys == pytest.approx(15.5 + 1)
    assert observation.commands[0].elapsed_ns == pytest.approx(0.5e9)
    assert not observation.warnings


def test_lines_that_a_key_recalled_have_the_shells_name_too(tmp_path: Path) -> None:
    written_sudo_log(tmp_path / "io", terminal_session(["\x1b[A", "gi\t", "ls"]))
    assert runs(loadgo.observe(tmp_path / "io")) == {"bash": 3}


def test_the_script_types_a_stand_in_as_long_as_the_lines_took(tmp_path: Path) -> None:
    written_sudo_log(tmp_path / "io", terminal_session(["ls"] * 9))
    observation = loadgo.observe(tmp_path / "io")
    assert observation.typing is not None
    assert observation.typing.mean_ns == pytest.approx(0.16e9)
    line_chars = len("sh stand-in.sh 0 0 0 0 1 0.5")
    assert f'typing  = "{round(line_chars / 0.16)} chars/s"' in observation.text


def test_think_times_for_accounting_come_from_keystrokes(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    written_sudo_log(tmp_path / "io", terminal_session(LINES))
    observation = loadgo.observe(records, think_from=tmp_path / "io")
    assert observation.think is not None
    assert not observation.think.is_upper_bound
    (figure,) = [figure for figure in observation.known if figure.figure == "think times"]
    assert (figure.source, figure.remark) == ("sudo I/O log", "20 pauses")


def test_people_are_chosen_by_name(tmp_path: Path) -> None:
    written_sudo_log(tmp_path / "io/01", terminal_session(LINES), person="anna")
    written_sudo_log(tmp_path / "io/02", [], "/usr/bin/id", person="bert")
    assert runs(loadgo.observe(tmp_path / "io", users=["anna"])) == {"bash": 20}
    assert runs(loadgo.observe(tmp_path / "io", without_users=["anna"])) == {"id": 1}
    with pytest.raises(Refused, match="no command is left of the sudo I/O log"):
        loadgo.observe(tmp_path / "io", users=["carl"])


def test_a_shell_without_logged_keys_is_left_out_and_counted(tmp_path: Path) -> None:
    written_sudo_log(tmp_path / "io/01", terminal_session(LINES))
    written_sudo_log(tmp_path / "io/02", terminal_session(LINES))
    (tmp_path / "io/02/ttyin").unlink()
    observation = loadgo.observe(tmp_path / "io")
    assert observation.sessions == 1
    assert observation.notes == ("1 shell whose keys sudo did not log (`Defaults log_input`).",)


DAMAGE = {
    "cut timing": ("timing", lambda content: content[: len(content) // 2], "01, line .* of `timing` is no event"),
    "cut keys": (
        "ttyin",
        lambda content: content[:30],
        "01, line .* of `timing` tells of bytes that are not in the log",
    ),
    "no event": ("timing", lambda _: b"4 nan 7\n", "01, line 1 of `timing` is no event"),
    "negative": ("timing", lambda _: b"4 0.1 -7\n", "01, line 1 of `timing` has no number of bytes"),
    "description": ("log.json", lambda _: b"[" * 100_000, "01 has no description that can be read"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_a_loss_with_its_place_and_the_rest_is_read(tmp_path: Path, name: str) -> None:
    file, change, words = DAMAGE[name]
    folder = written_sudo_log(tmp_path / "io/01", terminal_session(LINES))
    written_sudo_log(tmp_path / "io/02", terminal_session(LINES))
    if file == "log.json":
        (folder / "log").unlink()
    (folder / file).write_bytes(change((folder / file).read_bytes()))
    observation = loadgo.observe(tmp_path / "io")
    assert runs(observation)["bash"] >= 20
    (warning,) = observation.warnings
    assert loadgo.observe(tmp_path / "io/02").warnings == ()
    assert re.search(f"The source has 1 damaged session; the first: {words}", warning)


def test_a_loss_is_told_also_if_nothing_is_left(tmp_path: Path) -> None:
    folder = written_sudo_log(tmp_path / "io", terminal_session(LINES))
    (folder / "timing").write_bytes(b"damaged")
    with pytest.raises(Refused, match=r"no command is left.*Losses: it has 1 damaged session; the first: the folder"):
        loadgo.observe(tmp_path / "io")


def test_a_folder_named_for_a_person_is_in_no_warning(tmp_path: Path) -> None:
    written_sudo_log(tmp_path / "io/anna/01", terminal_session(LINES))
    written_sudo_log(tmp_path / "io/anna/02", terminal_session(LINES))
    (tmp_path / "io/anna/01/timing").write_bytes(b"damaged")
    (warning,) = loadgo.observe(tmp_path / "io").warnings
    assert "the first: _/01, line 1" in warning


def test_a_pipe_in_a_log_is_not_waited_for_and_a_link_not_followed(tmp_path: Path) -> None:
    folder = written_sudo_log(tmp_path / "io/01", terminal_session(LINES))
    written_sudo_log(tmp_path / "io/02", terminal_session(LINES))
    (folder / "ttyin").unlink()
    os.mkfifo(folder / "ttyin")
    assert "1 damaged session" in loadgo.observe(tmp_path / "io").warnings[0]
    (folder / "ttyin").unlink()
    (folder / "ttyin").symlink_to("/etc/passwd")
    assert "1 damaged session" in loadgo.observe(tmp_path / "io").warnings[0]
    (tmp_path / "again").mkdir()
    (tmp_path / "again/loop").symlink_to(tmp_path)
    with pytest.raises(Refused, match="is a folder without I/O logs of sudo"):
        loadgo.observe(tmp_path / "again")


def test_a_small_file_that_unpacks_to_much_is_read_in_parts(tmp_path: Path) -> None:
    folder = written_sudo_log(tmp_path / "io", terminal_session(LINES))
    (folder / "ttyout").write_bytes(gzip.compress(bytes(50_000_000)))
    (folder / "timing").write_bytes(b"4 0.5 50000000\n3 1.0 1\n")
    with pytest.raises(Refused, match="no command is left of the sudo I/O log"):
        loadgo.observe(tmp_path / "io")
