"""logs with drawn damage: bytes changed, parts cut, doubled and moved, words of the format put elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from support.accounting_records import written_history
from support.log_files import (
    atuin_lines,
    audit_session,
    terminal_session,
    tlog_messages,
    written_atuin,
    written_audit_log,
    written_sudo_log,
    written_tlog,
)

_LINES = ["ls planted-secret", "cat x", "vim y", "planted-secret"] * 3
_WORDS = (
    b"+99999999999<1", b"=80x24", b"<9999999", b"[1/9", b'"timing":', b"\\ud800", b"1e999", b"-1", b"NaN", b"null",
    b"[[[[[[", b"msg=audit(9999999999.999:1):", b"pid=99999999999", b"ses=", b"comm=FF", b"success=no", b"\x1d",
    b"\x1b[?1049h", b"\x1b]", b"7 9999999.1 STOP", b"3 1.5 999999", b"\xff\xfe", b"\n", b"#1760000000\n",
    b": 1760000000:9;", b"\0" * 9,
    b"9" * 5000,
)  # fmt: skip

LogWriter = Callable[[Path], Path]

WRITERS: dict[str, LogWriter] = {
    "sudo": lambda path: written_sudo_log(path, terminal_session(_LINES), is_packed=False),
    "packed sudo": lambda path: written_sudo_log(path, terminal_session(_LINES)),
    "tlog": lambda path: written_tlog(path, tlog_messages(terminal_session(_LINES))),
    "journal": lambda path: written_tlog(path, tlog_messages(terminal_session(_LINES)), "journal"),
    "audit": lambda path: written_audit_log(path, audit_session(9)),
    "atuin": lambda path: written_atuin(path, atuin_lines(60)),
    "bash": lambda path: written_history(path),
    "zsh": lambda path: written_history(path, kind="zsh"),
}


def damage(content: bytes, stream: random.Random) -> bytes:
    """The content with one to eight changes."""
    changed = bytearray(content)
    for _ in range(stream.randint(1, 8)):
        place = stream.randrange(len(changed) + 1)
        end = min(place + stream.randint(1, 60), len(changed))
        kind = stream.randrange(6)
        if kind == 0 and place < len(changed):
            changed[place] = stream.randrange(256)
        elif kind == 1:
            changed[place:end] = b""
        elif kind == 2:
            changed[place:place] = changed[place:end] * stream.randint(1, 20)
        elif kind == 3:
            changed[place:place] = stream.choice(_WORDS)
        elif kind == 4:
            changed[place:end] = stream.choice(_WORDS)
        elif stream.random() < 0.3:
            del changed[place:]
    return bytes(changed)


def damaged(path: Path, stream: random.Random) -> None:
    """Damages a file, or one file of a folder."""
    file = path if path.is_file() else stream.choice(sorted(path.iterdir()))
    file.write_bytes(damage(file.read_bytes(), stream))
