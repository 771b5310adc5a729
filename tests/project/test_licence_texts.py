"""LICENSES-RUST.txt has the licence of each crate that is linked into what loadgo ships."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import PROJECT

TEXTS = PROJECT / "LICENSES-RUST.txt"


def test_the_licence_texts_are_those_of_the_crates_that_are_linked(tmp_path: Path) -> None:
    """The file is made anew elsewhere, from Cargo.lock and the crates here, and is the same."""
    if platform.machine() != "x86_64":
        pytest.skip("other crates are linked on another processor")
    anew = tmp_path / TEXTS.name
    subprocess.run([sys.executable, "scripts/licence_texts.py", anew], cwd=PROJECT, check=True, capture_output=True)
    assert anew.read_text() == TEXTS.read_text(), "run `.venv/bin/python scripts/licence_texts.py`, and commit the file"


def test_no_crate_is_without_a_text() -> None:
    parts = TEXTS.read_text(encoding="utf-8").split("=" * 80 + "\n")[1:]
    assert len(parts) > 50
    for part in parts:
        titles, _, licence = part.partition("\n\n")
        assert all(re.fullmatch(r"[\w-]+ [\d.]+(\+\S+)?: .+", title) for title in titles.splitlines()), titles
        assert re.search(r"(?i)copyright|\(C\)|public domain|Apache License", licence), titles
