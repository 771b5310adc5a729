"""The kernel's programs, seen from outside: which a process holds, and whether they are still loaded."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import subprocess
import time
from pathlib import Path

from support.outside import LOOK_EVERY_S, PATIENCE_S

_BPF = {"x86_64": 321, "aarch64": 280}.get(platform.machine(), 321)
_FD_BY_ID = 13
_LIBC = ctypes.CDLL(None, use_errno=True)

WITHOUT_TYPES = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh")
"""Words before a command that then runs on a kernel that does not tell its types."""


def held_by(pid: int) -> set[int]:
    """The numbers of the programs that the process `pid` holds."""
    held: set[int] = set()
    for path in Path(f"/proc/{pid}/fdinfo").glob("*"):
        try:
            held |= {int(number) for number in re.findall(r"^prog_id:\s*(\d+)", path.read_text(), re.MULTILINE)}
        except OSError:
            continue
    return held


def loaded(number: int) -> bool:
    """Whether the kernel still has the program of this number; needs root."""
    attributes = (ctypes.c_uint32 * 32)(number)
    fd = _LIBC.syscall(_BPF, _FD_BY_ID, attributes, ctypes.sizeof(attributes))
    if fd >= 0:
        os.close(fd)
        return True
    assert ctypes.get_errno() == errno.ENOENT, os.strerror(ctypes.get_errno())
    return False


def all_unloaded(numbers: set[int]) -> bool:
    """Whether the kernel lets go of all of them, which it does when nobody can run one any more."""
    give_up = time.monotonic() + PATIENCE_S
    while any(loaded(number) for number in numbers):
        if time.monotonic() > give_up:
            return False
        time.sleep(LOOK_EVERY_S)
    return True


def holds_programs(running: subprocess.Popen[str]) -> bool:
    """Whether a loadgo that was started has loaded what it meters with."""
    return len(held_by(running.pid)) > 0
