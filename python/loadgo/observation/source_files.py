"""Opens a file of records, as far as it was written when it was opened, and says which kind of records it has."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Literal

from loadgo.errors import Refused

SourceKind = Literal[
    "process accounting",
    "shell history",
    "sudo I/O log",
    "tlog recording",
    "audit log",
    "atuin history",
    "live observation",
]
_HEAD_BYTES = 65536
"""The part of a file by which its kind is known."""
_COMPRESSED = {b"\x1f\x8b": "zcat", b"\xfd7": "xzcat", b"BZ": "bzcat", b"\x28\xb5": "zstdcat"}
"""Programs that unpack a file, by the first bytes of the file."""
_ACCOUNTING_VERSIONS = (1, 2, 3)
_BIG_ENDIAN_BIT = 0x80
TIMED_HISTORY = re.compile(rb"^(?:#\d{5,12}|: \d{5,12}:\d+;)", re.MULTILINE)
"""The beginning of a line with a time in the history of bash or zsh."""
_SQLITE_HEAD = b"SQLite format 3\0"
_TLOG_MESSAGE = re.compile(rb'\\?"timing\\?"\s*:\s*\\?"|"SYSLOG_IDENTIFIER"\s*:\s*"tlog-rec')
"""A field of a message itself, or of the journal around it."""
_AUDIT_RECORD = re.compile(rb"^(?:node=\S+ )?type=[A-Z0-9_]+ msg=audit\(\d+\.\d+:\d+\)", re.MULTILINE)


@dataclass(frozen=True)
class SourceFile:
    """An open file of records."""

    name: str
    """The path that was given. It is for errors alone, since it may name a person."""
    kind: SourceKind
    file: BinaryIO
    bytes: int
    """The size when the file was opened. What is written later is not read."""

    def growth_bytes(self) -> int:
        """The number of bytes by which the file has grown since it was opened; negative if it was cut."""
        return os.fstat(self.file.fileno()).st_size - self.bytes


@contextmanager
def opened_source(path: str | PathLike[str]) -> Iterator[SourceFile]:
    """Opens a file of records. Raises `Refused` with the remedy if the file holds none that are known."""
    name = os.fspath(path)
    with _refusals(name), _opened(Path(name)) as file:
        head = file.read(_HEAD_BYTES)
        file.seek(0)
        yield SourceFile(name, _kind(name, head), file, os.fstat(file.fileno()).st_size)


@contextmanager
def opened_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """The folder of records. What the host refuses while it is read is raised as `Refused`."""
    with _refusals(os.fspath(path)):
        yield Path(path)


@contextmanager
def _refusals(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        remedy = ": read it as root, or copy it" if isinstance(error, PermissionError) else ""
        raise Refused(f"{name} cannot be read ({error.strerror}){remedy}") from error


def _opened(path: Path) -> BinaryIO:
    """The open file. A pipe is not waited for: `O_NONBLOCK` opens it, and then it is refused."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(number).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(number, "rb")
    os.close(number)
    kinds = {stat.S_IFIFO: "a pipe", stat.S_IFDIR: "a folder", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
    what = kinds.get(stat.S_IFMT(mode), "no file")
    raise Refused(f"{path} is {what}: records are read from a regular file; copy them to one first")


def _kind(name: str, head: bytes) -> SourceKind:
    """The kind of records that begin with `head`. Raises `Refused` for what is none of them."""
    if not head.strip(b"\0\r\n\t "):
        what = "is empty" if not head else "holds nothing but blanks"
        raise Refused(
            f"{name} {what}: is process accounting on (`accton FILE`), or does the shell keep times (HISTTIMEFORMAT)?"
        )
    unpacker = _COMPRESSED.get(head[:2])
    if unpacker is not None:
        raise Refused(f"{name} is compressed: unpack it first (`{unpacker} FILE > UNPACKED`)")
    if head.startswith(_SQLITE_HEAD):
        return "atuin history"
    if TIMED_HISTORY.search(head) and b"\0" not in head:
        return "shell history"
    if _AUDIT_RECORD.search(head):
        return "audit log"
    if _TLOG_MESSAGE.search(head):
        return "tlog recording"
    if b"\0" in head:
        _check_accounting(name, head)
        return "process accounting"
    raise Refused(
        f"{name}, line 1: no line here has a time: bash keeps them with HISTTIMEFORMAT='%s ', zsh with "
        "`setopt EXTENDED_HISTORY`; lines that are typed from then on have one. No line is of auditd or tlog"
    )


def _check_accounting(name: str, head: bytes) -> None:
    """Raises `Refused` unless `head` is the beginning of process accounting of version 3."""
    version = head[1] if len(head) > 1 else 0
    known = version & ~_BIG_ENDIAN_BIT
    if known not in _ACCOUNTING_VERSIONS:
        raise Refused(
            f"{name}, byte 1: {version} is no version of process accounting, and a file with zero bytes is no history "
            "of a shell: name the file that `accton` writes, such as /var/log/account/pacct"
        )
    if known != 3:
        raise Refused(
            f"{name}, byte 1: these are records of version {known}, and only version 3 says which process started "
            "which: kernels with CONFIG_BSD_PROCESS_ACCT_V3 write it, as most distributions have them"
        )
