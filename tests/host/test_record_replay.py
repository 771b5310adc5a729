"""A session that was recorded, then run by one user, gives the same exit statuses."""

from pathlib import Path

import loadgo
import pytest
from support.sittings import PROMPT, sitting, typed

SESSION = [
    "echo one",
    "false",
    "sh -c 'exit 7'",
    "mkdir a && cd a",
    "test -d ../a",
    "rmdir b",
    "echo {1..3} ${HOME:+x}",
]


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_a_run_of_a_recorded_script_gives_the_recorded_exit_statuses(tmp_path: Path, shell: str) -> None:
    with sitting(tmp_path, shell) as person:
        for line in SESSION:
            person.enters(line)
        person.enters("for i in 1 2 3", then="> ")
        person.enters("do test $i = 3; done")
        person.leaves()
    recorded = [status for _, status in typed(person.script)]
    assert recorded == [0, 1, 7, 0, 0, 1, 0, 0]
    run = loadgo.run(str(person.script), users=1, think="none", out=tmp_path / "run")
    rows = loadgo.tables(run).interactions.sort("line")
    assert rows["exit_status"].to_list() == recorded
    assert rows["outcome"].cast(str).to_list() == ["ok"] * len(recorded)


def test_a_run_of_a_recorded_program_with_a_prompt_types_its_lines_to_it(tmp_path: Path) -> None:
    with sitting(tmp_path, "dash") as person:
        person.enters("python3 -q", then=">>> ")
        person.enters("import sys", then=">>> ")
        person.enters("sys.exit(5)")
        person.enters("true")
        person.leaves()
    run = loadgo.run(str(person.script), users=1, think="none", out=tmp_path / "run")
    rows = loadgo.tables(run).interactions.sort("line")
    assert rows["exit_status"].to_list() == [None, None, 5, 0]


def test_a_run_of_a_recorded_editor_and_pager_writes_and_reads_the_same(tmp_path: Path) -> None:
    with sitting(tmp_path, "bash") as person:
        person.enters("vim -u NONE -n notes", then="~")
        for keys in ("i", "h", "i", " ", "{", "<", "\x1b"):
            person.terminal.send(keys)
            person.settles()
        # A busy editor shows nothing of keys that others follow before it has read them, and these are secrets.
        person.terminal.expect(r"(?s).*")
        person.terminal.send(":")
        person.terminal.expect_exact(":")
        person.enters("wq")
        person.enters("less notes", then="END")
        person.terminal.send("q")
        person.sees(PROMPT)
        person.enters("cat notes")
        person.leaves()
    (tmp_path / "notes").unlink()
    text = person.script.read_text()
    assert 'keys = "ihi {<lt><Esc>"' in text, text
    assert 'keys = ":wq<Enter>", as = "vim keys", until = "mark"' in text, text
    run = loadgo.run(str(person.script), users=1, think="none", out=tmp_path / "run")
    rows = loadgo.tables(run).interactions
    assert rows["outcome"].cast(str).to_list() == ["ok"] * rows.height
    written = len("hi {<\r\n")
    assert rows.sort("line")["bytes_out"].to_list()[-1] >= written
