"""Recording at real shells on real terminals: what was typed becomes the script, what is secret does not."""

import os
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import loadgo
import pytest
from loadgo import _loadgo
from loadgo.errors import Mistake, Refused
from support.outside import LOOK_EVERY_S
from support.sittings import PROMPT, RECORD, Sitting, sitting, typed

SECRET = "hunter2-of-mine"


def test_a_dash_session_becomes_a_script_with_its_exit_statuses(tmp_path: Path) -> None:
    with sitting(tmp_path, "dash") as person:
        person.enters("echp\x7fo a b")
        person.enters("false")
        person.enters("sh -c 'exit 7'")
        person.enters("for i in 1 2", then="> ")
        person.enters("do true; done")
        person.leaves("exit 3\r")
    assert typed(person.script) == [
        ("echo a b", 0),
        ("false", 1),
        ("sh -c 'exit 7'", 7),
        ("for i in 1 2\ndo true; done", 0),
    ]
    assert 'logout = "exit 3"' in person.script.read_text()
    assert "4 exit statuses" in person.seen
    assert "\x1b]133" not in person.seen, "the mark is for the recorder alone"


def test_bash_editing_history_and_completion_leave_the_line_that_was_entered(tmp_path: Path) -> None:
    (tmp_path / "a-long-name.txt").write_text("")
    with sitting(tmp_path, "bash") as person:
        person.enters("echo one twp\x7fo")
        person.enters("false")
        person.enters("\x1b[A\x1b[A")
        person.enters("ls a-lo\t")
        person.enters("wrong\x15cd /\x1b[H")
        person.enters("\x12one")
        person.leaves("\x04")
    assert typed(person.script) == [
        ("echo one two", 0),
        ("false", 1),
        ("echo one two", 0),
        ("ls a-long-name.txt", 0),
        ("cd /", 0),
        ("echo one two", 0),
    ]
    assert not list((tmp_path / "tmp").iterdir()), "the start-up files are gone"


@pytest.mark.parametrize(
    ("shell", "ask", "asked"),
    [
        ("bash", "read -s -p Secret: x", "Secret:"),
        ("dash", f"{sys.executable} -c 'import getpass; getpass.getpass()'", "Password: "),
        ("dash", "stty -echo; head -1 > /dev/null; stty echo", ""),
        ("dash", "stty raw -echo; dd bs=1 count=16 of=/dev/null 2>/dev/null; stty sane", ""),
    ],
    ids=["read -s", "getpass", "stty -echo", "raw"],
)
def test_what_is_typed_without_echo_is_stored_nowhere(tmp_path: Path, shell: str, ask: str, asked: str) -> None:
    with sitting(tmp_path, shell) as person:
        person.terminal.send(f"{ask}\r")
        person.sees("\n")  # the line is sent: what asks stands in it as well, and its editor has the echo off
        person.sees(asked)
        _await_no_echo(person)
        person.terminal.send(f"{SECRET}\r")
        person.sees(PROMPT)
        person.enters("echo after")
        person.leaves()
    for file in (f for f in tmp_path.rglob("*") if f.is_file()):
        assert SECRET not in file.read_text(errors="replace"), f"the secret is in {file}"
    text = person.script.read_text()
    assert [line for line, _ in typed(person.script)][-1] == "echo after"
    assert "{random:secret_2}" in text
    with pytest.raises(Mistake, match="secret_2"):
        _loadgo.parse_script(text)
    assert _loadgo.parse_script(text.replace("# [words]", "[words]").replace("# secret_2", "secret_2"))


def _await_no_echo(person: Sitting) -> None:
    """Waits until the recorded shell's terminal has its echo off."""
    recorder = person.terminal.pid
    while True:
        children = Path(f"/proc/{recorder}/task/{recorder}/children").read_text().split()
        shell = next(iter(children))
        slave = os.open(f"/proc/{shell}/fd/0", os.O_RDWR | os.O_NOCTTY)
        try:
            if not termios.tcgetattr(slave)[3] & termios.ECHO:
                return
        finally:
            os.close(slave)
        time.sleep(LOOK_EVERY_S)


def test_a_program_that_reads_lines_is_known_by_its_prompt(tmp_path: Path) -> None:
    with sitting(tmp_path, "dash") as person:
        person.enters(f"{sys.executable} -q", then=">>> ")
        person.enters("6 * 7", then=">>> ")
        person.terminal.send("\x04")
        person.sees(PROMPT)
        person.leaves()
    lines = typed(person.script)
    assert [line for line, _ in lines[1:]] == ["6 * 7", "exit()"]
    assert lines[-1][1] == 0
    assert 'until = ">>> ' in person.script.read_text()


def test_a_program_without_marks_is_recorded_by_estimates_that_are_named(tmp_path: Path) -> None:
    with sitting(tmp_path, sys.executable, "-q", prompt=">>> ") as person:
        person.enters("1 + 1", then=">>> ")
        person.leaves("exit()\r")
    assert [line for line, _ in typed(person.script)] == ["1 + 1"]
    assert "prompts are estimated" in person.script.read_text()


def test_the_cast_that_is_kept_imports_to_the_same_script(tmp_path: Path) -> None:
    with sitting(tmp_path, "bash") as person:
        person.enters("echo ä\x7fö")
        person.enters("false")
        person.leaves()
    again = loadgo.record(tmp_path / "again.toml", from_cast=person.cast)
    assert typed(again.path) == typed(person.script) == [("echo ö", 0), ("false", 1)]
    assert again.ending == "exited 1"


def test_the_window_size_is_passed_on(tmp_path: Path) -> None:
    with sitting(tmp_path, "dash") as person:
        person.enters("stty size", then="24 80\r\n")
        person.sees(PROMPT)
        person.terminal.setwinsize(30, 100)
        person.enters("until [ \"$(stty size)\" = '30 100' ]; do :; done; echo wide", then="wide\r\n")
        person.leaves()


@pytest.mark.parametrize("end", ["exit", "shell killed", "recorder stopped"])
def test_the_terminal_is_given_back_on_every_way_out(tmp_path: Path, end: str) -> None:
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    command = [sys.executable, "-c", RECORD, str(tmp_path / "r.toml"), str(tmp_path / "r.cast"), "dash"]
    environment = {**os.environ, "PS1": PROMPT}
    with subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
    ) as recorder:
        _read_until(master, PROMPT)
        assert not termios.tcgetattr(slave)[3] & termios.ICANON, "it is raw while recording"
        os.write(master, b"echo $((6 * 7))\r")
        _read_until(master, "42\r\n" + PROMPT)
        shell = int(Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()[0])
        match end:
            case "exit":
                os.write(master, b"exit\r")
            case "shell killed":
                os.kill(shell, signal.SIGKILL)
            case "recorder stopped":
                recorder.send_signal(signal.SIGTERM)
        shown = _read_until(master, "Nothing was typed that the screen")
        assert recorder.wait() == 0
    assert termios.tcgetattr(slave) == before
    assert not Path(f"/proc/{shell}").exists(), "no shell is left behind"
    assert typed(tmp_path / "r.toml") == [("echo $((6 * 7))", 0)], shown
    os.close(master)
    os.close(slave)


def _read_until(master: int, text: str) -> str:
    seen = ""
    while text not in seen:
        seen += os.read(master, 4096).decode()
    return seen


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    cast = tmp_path / "a.cast"
    cast.write_text(V3)
    script = tmp_path / "a.toml"
    script.write_text("mine")
    with pytest.raises(Refused, match="exists already"):
        loadgo.record(script, from_cast=cast)
    assert script.read_text() == "mine"
    loadgo.record(script, from_cast=cast, force=True)
    assert typed(script) == [("ls", None)]
    assert {file.name for file in tmp_path.iterdir()} == {"a.cast", "a.toml"}


V3 = """{"version": 3, "term": {"cols": 80, "rows": 24}, "env": {"SHELL": "/bin/sh"}}
[0.5, "o", "$ "]
[2.0, "i", "l"]
[0.001, "o", "l"]
[0.249, "i", "s"]
[0.001, "o", "s"]
[0.249, "i", "\\r"]
[0.001, "o", "\\r\\n"]
[1.0, "o", "file\\r\\n$ "]
[4.0, "i", "exit\\r"]
[0.001, "o", "exit\\r\\n"]
"""


def test_an_imported_cast_tells_think_time_and_typing_rate(tmp_path: Path) -> None:
    cast = tmp_path / "a.cast"
    cast.write_text(V3)
    recorded = loadgo.record(tmp_path / "a.toml", from_cast=cast)
    assert recorded.think_times_ns == (2_000_000_000,)
    assert recorded.think_p50_s == 2.0
    assert recorded.typing_chars_per_second == 4.0
    assert recorded.login == "/bin/sh"
    assert any("estimated" in note for note in recorded.notes)


def test_a_cast_comes_from_the_standard_input_too(tmp_path: Path) -> None:
    code = "import sys, loadgo; print(loadgo.record(sys.argv[1], from_cast='-'))"
    command = [sys.executable, "-c", code, str(tmp_path / "a.toml")]
    result = subprocess.run(command, input=V3, capture_output=True, text=True, check=True)
    assert "Think time 2 s (median of 1); typing 4 chars/s" in result.stdout


def test_a_malformed_cast_is_refused_with_file_and_line(tmp_path: Path) -> None:
    cast = tmp_path / "a.cast"
    cast.write_text(V3.replace('[1.0, "o"', '["1.0", "o"'))
    with pytest.raises(Mistake, match=r"a\.cast, line 9"):
        loadgo.record(tmp_path / "a.toml", from_cast=cast)
    assert not (tmp_path / "a.toml").exists()
