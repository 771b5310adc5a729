"""Runs a command without one system call: `without_call.py NUMBER[:ERROR] COMMAND…`; it then says EPERM, or ERROR."""

import ctypes
import errno
import os
import struct
import sys

NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2
LOAD_CALL, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000


def forbid(call: int, error: int) -> None:
    """From now on this process and all that it starts are refused this call."""
    steps = [(LOAD_CALL, 0, 0, 0), (EQUAL, 0, 1, call), (RETURN, 0, 0, REFUSE | error), (RETURN, 0, 0, ALLOW)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    told = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, told, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


if __name__ == "__main__":
    number, _, error = sys.argv[1].partition(":")
    forbid(int(number), int(error or errno.EPERM))
    os.execvp(sys.argv[2], sys.argv[2:])
