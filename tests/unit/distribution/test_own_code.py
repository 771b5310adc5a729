"""Workers with other code are refused, and a worker that sees the starter's own files does not read them."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.distribution import own_code as module
from loadgo.distribution.own_code import CodeIdentity, check_code, own_code
from loadgo.errors import Refused


def state_of(package: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(module, "_PACKAGE", package)
    return module._file_state.__wrapped__()


def test_a_worker_that_sees_the_same_files_does_not_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    code = own_code()
    monkeypatch.setattr(module, "own_code", lambda: pytest.fail("the files are read"))
    check_code(code)


def test_a_worker_without_a_known_state_reads_its_files() -> None:
    code = own_code()
    check_code(CodeIdentity(code.version, code.code_hash))
    check_code(replace(code, file_state="of another host"))
    with pytest.raises(Refused, match="has other code"):
        check_code(CodeIdentity(code.version, "0" * 64))


def test_every_change_of_a_file_is_another_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "loadgo"
    (package / "inner").mkdir(parents=True)
    file = package / "inner" / "code.py"
    file.write_text("one = 1\n")
    (package / "notes.txt").write_text("no code")
    states = [state_of(package, monkeypatch)]
    assert states[0] == state_of(package, monkeypatch)
    before = file.stat()
    file.write_text("one = 2\n")
    while file.stat().st_ctime_ns == before.st_ctime_ns:  # the kernel's clock of files has steps of milliseconds
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    states.append(state_of(package, monkeypatch))
    (package / "more.py").write_text("")
    states.append(state_of(package, monkeypatch))
    states.append(state_of(Path(shutil.copytree(package, tmp_path / "copy")), monkeypatch))
    assert len(set(states)) == 4
    (package / "notes.txt").write_text("still none")
    assert state_of(package, monkeypatch) == states[2]
