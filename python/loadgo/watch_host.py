"""This host watched without a run: it is metered into a folder of its own, which goes when the watching ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from loadgo.errors import Refused

_PATIENCE_S = 60.0
_LOOK_S = 0.1


@contextmanager
def metered(tier: str = "cheap", every: str = "1s") -> Iterator[Path]:
    """The folder of a metering that goes on meanwhile. Raises `errors.Refused` when it does not begin."""
    with TemporaryDirectory(prefix="loadgo-watch-") as kept:
        folder = Path(kept) / "host"
        command = [sys.executable, "-m", "loadgo.cli_watch_host", str(folder), tier, every]
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
