"""Damaged logs of each kind are read, or refused in words: nothing else is raised, and no secret is in any text."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from time import monotonic

import loadgo
import pytest
from loadgo.errors import LoadgoError
from support.damaged_logs import WRITERS, damaged

SECONDS = float(os.environ.get("LOADGO_FUZZ_SECONDS", "0"))
"""Each kind is tried for this long instead of `TRIES` times."""
TRIES = 60
SEED = int(os.environ.get("LOADGO_FUZZ_SEED", "1974"))


@pytest.mark.parametrize("kind", WRITERS)
def test_a_damaged_log_is_read_or_refused_in_words(tmp_path: Path, kind: str) -> None:
    drawn, began_s, tries, read = random.Random(f"{SEED}{kind}"), monotonic(), 0, 0
    path = tmp_path / "log"
    original = WRITERS[kind](tmp_path / "original")
    while tries < TRIES or monotonic() - began_s < SECONDS:
        tries += 1
        if path.is_dir():
            shutil.rmtree(path)
        (shutil.copytree if original.is_dir() else shutil.copyfile)(original, path)
        damaged(path, drawn)
        try:
            observation = loadgo.observe(path)
            texts = [observation.text, observation.report(), observation.report("json")]
            read += 1
        except LoadgoError as refusal:
            texts = [str(refusal)]
            assert str(path) in texts[0] or "no command is left" in texts[0]
        assert not any("planted-secret" in text for text in texts)
    print(f"{kind}: {tries} damaged logs, {read} of them read")
    assert read > 0
