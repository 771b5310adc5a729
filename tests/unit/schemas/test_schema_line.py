"""The first line of the files that loadgo writes: it names the schema of this installation, and is a comment."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from urllib.parse import unquote, urlparse

import loadgo
import pytest
from jsonschema import Draft4Validator
from loadgo import _loadgo

CAST = """{"version": 3, "term": {"cols": 80, "rows": 24}, "command": "/bin/sh"}
[0.1, "o", "$ "]
[2.0, "i", "date\\r"]
[0.1, "o", "date\\r\\nmonday\\r\\n$ "]
[4.0, "i", "exit\\r"]
[0.001, "o", "exit\\r\\n"]
"""
MACHINE = 'title = "t"\nsource = "s"\n[processors]\ndiscipline = "sharing"\n[commands."*"]\ncpu = "exponential(50ms)"\n'


@pytest.fixture
def written(tmp_path: Path) -> dict[str, Path]:
    """A script that `record` wrote and a machine that `fit` wrote."""
    (tmp_path / "typed.cast").write_text(CAST)
    (tmp_path / "given.toml").write_text(MACHINE)
    loadgo.record(tmp_path / "script.toml", from_cast=tmp_path / "typed.cast")
    run = loadgo.run("light", on=str(tmp_path / "given.toml"), users=3, passes=5, out=tmp_path / "run")
    loadgo.fit(run.folder, output=tmp_path / "machine.toml")
    return {"script": tmp_path / "script.toml", "machine": tmp_path / "machine.toml"}


def test_it_names_the_schema_of_this_installation_and_the_file_fits_it(written: dict[str, Path]) -> None:
    for kind, file in written.items():
        text = file.read_text(encoding="utf-8")
        place = urlparse(text.splitlines()[0].removeprefix("#:schema "))
        assert place.scheme == "file"
        schema = json.loads(Path(unquote(place.path)).read_text(encoding="utf-8"))
        assert schema == loadgo.schema(kind)
        assert not [*Draft4Validator(schema).iter_errors(tomllib.loads(text))]


def test_loadgo_does_not_read_it(written: dict[str, Path]) -> None:
    def other(file: Path) -> str:
        return "#:schema nowhere.json\n" + file.read_text(encoding="utf-8").partition("\n")[2]

    script, machine = (written[kind].read_text(encoding="utf-8") for kind in ("script", "machine"))
    assert _loadgo.parse_script(other(written["script"])) == _loadgo.parse_script(script)
    parsed = [_loadgo.parse_machine(text, []) for text in (other(written["machine"]), machine)]
    assert parsed[0].keys() == parsed[1].keys()
    assert all(parsed[0][key] == parsed[1][key] for key in parsed[0] if key != "text")
