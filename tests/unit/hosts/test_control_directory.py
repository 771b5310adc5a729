"""The directory of a control socket is removed however the program ends, unless it is killed."""

import subprocess
import sys
from pathlib import Path

INTERRUPTED = """
import shutil
from loadgo.hosts.control_directory import control_directory
remove = shutil.rmtree
def interrupted(path, ignore_errors=False):
    shutil.rmtree = remove
    raise KeyboardInterrupt
with control_directory() as path:
    print(path, flush=True)
    shutil.rmtree = interrupted
"""


def test_an_interrupt_of_its_removal_leaves_no_directory() -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert "KeyboardInterrupt" in ended.stderr
    path = Path(ended.stdout.strip())
    assert path.name.startswith("loadgo-ssh-")
    assert not path.exists()
