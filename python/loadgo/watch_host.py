"""This host watched without a run: it is metered into a folder of its own, which goes when the watching ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import loadgo
from loadgo.errors import LoadgoError, Refused

_PATIENCE_S = 60.0
_LOOK_S = 0.1


@contextmanager
def metered(tier: str = "cheap", every: str = "1s") -> Iterator[Path]:
    """The folder of a metering that goes on meanwhile. Raises `errors.Refused` when it does not begin."""
    with TemporaryDirectory(prefix="loadgo-watch-") as kept:
        folder = Path(kept) / "host"
        command = [sys.executable, "-m", "loadgo.watch_host", str(folder), tier, every]
        # A session of its own: an interrupt from the terminal ends the watching, and that ends this. Its input ends
        # with us, however we end.
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            _await(process, folder)
            yield folder
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.communicate()


def _await(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Until the folder is one that can be followed."""
    until = time.monotonic() + _PATIENCE_S
    while not ((folder / "run.toml").exists() and (folder / "time.arrows").exists()):
        if process.poll() is not None:
            said = process.communicate()[1].decode(errors="replace").strip()
            why = said or "no reason was given"
            raise Refused(f"this host could not be metered: {why}; a run can be watched by whoever may read its folder")
        if time.monotonic() > until:
            raise Refused(f"the metering of this host has not begun within {_PATIENCE_S:.0f} s")
        time.sleep(_LOOK_S)


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
