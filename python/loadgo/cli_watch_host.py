"""The process that meters this host for a watcher, until the watcher is gone: `python -m loadgo.cli_watch_host`."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Literal

import loadgo
from loadgo.errors import LoadgoError


def _meter_until_left(folder: Path, tier: Literal["cheap", "exact"], every: str) -> None:
    """Meters into `folder` until who asked for it is gone, and leaves nothing behind."""
    threading.Thread(target=_interrupt_at_the_end_of_input, daemon=True).start()
    try:
        with suppress(KeyboardInterrupt):
            loadgo.meter(meters=tier, every=every, out=folder)
    except LoadgoError as why:
        sys.exit(str(why))
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _interrupt_at_the_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    _meter_until_left(Path(sys.argv[1]), "exact" if sys.argv[2] == "exact" else "cheap", sys.argv[3])
