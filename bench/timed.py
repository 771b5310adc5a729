"""Runs a command: `timed.py COMMAND…` prints its processor seconds, with those of the children it waited for."""

from __future__ import annotations

import os
import subprocess
import sys


def main() -> None:
    """Runs, and prints."""
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{sys.argv[1:]} ended with {os.waitstatus_to_exitcode(status)}")
    print(used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    main()
