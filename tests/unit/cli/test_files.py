"""Files of a command are written whole or not at all: a full disk or a refusal leaves an earlier file as it was."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from loadgo.cli.files import append_to_file, write_file
from support.outside import NEEDS_FULL_DEVICE

WRITERS = (write_file, append_to_file)
LIMIT_BYTES = 4096
TOO_MUCH = b"x" * (3 * LIMIT_BYTES)


@contextmanager
def file_size_limit() -> Iterator[None]:
    """No file of this process grows beyond `LIMIT_BYTES`: a write fails as on a full disk, after a part of it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("write", WRITERS)
def test_a_write_that_fails_leaves_the_old_file(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("old")
    with file_size_limit(), pytest.raises(OSError, match="File too large") as refusal:
        write(path, TOO_MUCH)
    assert refusal.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("write", WRITERS)
def test_a_write_that_fails_leaves_no_new_file(write: Callable[[Path, bytes], None], tmp_path: Path) -> None:
    with file_size_limit(), pytest.raises(OSError, match="File too large"):
        write(tmp_path / "r.html", TOO_MUCH)
    assert list(tmp_path.iterdir()) == []


def test_a_file_keeps_its_mode_and_its_owner_and_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "real", tmp_path / "link"
    path.write_text("old, and longer")
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    before = path.stat()
    link.symlink_to("real")
    write_file(link, "new")
    assert (link.is_symlink(), path.read_text()) == (True, "new")
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert sorted(tmp_path.iterdir()) == [link, path]


def test_a_new_file_has_the_mode_of_any_new_file_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "any").write_text("")
    (tmp_path / "link").symlink_to("later")
    write_file(tmp_path / "link", "new")
    assert (tmp_path / "later").read_text() == "new"
    assert (tmp_path / "later").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_a_second_name_of_a_file_has_the_new_content_too(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    write_file(tmp_path / "one", "new")
    assert (tmp_path / "two").read_text() == "new"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_file(pipe, "new")
        assert os.read(reader, 100) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@NEEDS_FULL_DEVICE
@pytest.mark.parametrize("write", WRITERS)
def test_a_full_device_is_named(write: Callable[[Path, bytes], None]) -> None:
    with pytest.raises(OSError, match="No space left on device") as refusal:
        write(Path("/dev/full"), b"new")
    assert refusal.value.filename == "/dev/full"
