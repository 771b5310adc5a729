"""Simulated runs that end without a word, so that their folders have streams and no tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.outside import PATIENCE_S

_DIES = """
import os, sys, loadgo
from pathlib import Path
from loadgo._loadgo import whole

stream, seen = Path(sys.argv[1]) / "interactions.arrows", set()

def look(progress):
    if stream.exists():
        seen.add(whole(stream)[1])
    if len(seen) > 3:
        os._exit(9)

loadgo.run("typical-user", on="multics-6180", users=20, passes=10**6, out=sys.argv[1], progress=look)
"""


def killed_run(folder: Path) -> Path:
    """Makes a run in `folder` that ends without a word when its stream of interactions has several batches."""
    assert subprocess.run([sys.executable, "-c", _DIES, str(folder)], timeout=PATIENCE_S).returncode == 9
    return folder
