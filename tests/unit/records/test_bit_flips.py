"""Single bits that change in the files of a run: `loadgo verify` sees each, and every reader answers in words.

`LOADGO_BIT_FLIPS=3000 pytest FILE` changes so many, one after the other. `make test` changes three hundred.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import loadgo
import pytest
from loadgo.cli.app import app
from loadgo.errors import BadRun
from support.killed_runs import killed_run
from typer.testing import CliRunner

pytestmark = pytest.mark.long
FLIPS = int(os.environ.get("LOADGO_BIT_FLIPS", "300"))
"""How many bits change, in both runs together."""
SEED = int(os.environ.get("LOADGO_BIT_FLIPS_SEED", "1"))
"""The seed of the places."""
REPORT_EVERY = 10
"""Number of changed files of which one is given to `loadgo report`, too."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run that ended, and one that was killed."""
    place = tmp_path_factory.mktemp("flips")
    loadgo.run("typical-user", on="multics-6180", users=5, passes=1, seed=3, out=place / "whole")
    return {"whole": place / "whole", "killed": killed_run(place / "killed")}


def findings_on(run: Path) -> dict[str, tuple[str, str]] | None:
    """The verdict and the words of the check of each file; None if the run cannot be judged at all."""
    try:
        checks = loadgo.verify(run).checks
    except BadRun:
        return None
    return {check.name: (check.verdict, check.text) for check in checks if check.kind == "file"}


def is_seen(run: Path, file: Path, before: dict[str, tuple[str, str]]) -> bool:
    """Whether the check of this file fails, and did not fail with these words before."""
    after = findings_on(run)
    name = file.name
    return after is None or (after.get(name, ("", ""))[0] == "broken" and after.get(name) != before.get(name))


@pytest.mark.parametrize("kind", ["whole", "killed"])
def test_every_bit_that_changes_in_any_file_is_seen(runs: dict[str, Path], kind: str) -> None:
    run, drawn = runs[kind], random.Random(f"{SEED} {kind}")
    before = findings_on(run)
    assert before is not None
    files = sorted(path for path in run.iterdir() if path.stat().st_size and not path.name.endswith(".part"))
    assert {"run.toml", "script.toml"} < {path.name for path in files}
    unseen = []
    for flip in range(FLIPS // 2):
        file = drawn.choice(files)
        content = file.read_bytes()
        bit = drawn.randrange(8 * len(content))
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        if not is_seen(run, file, before):
            unseen.append(f"bit {bit % 8} of byte {bit // 8} of {len(content)} of {file.name}")
        if flip % REPORT_EVERY == 0:
            told = CliRunner().invoke(app, ["report", str(run)])
            assert told.exit_code in (0, 1, 2), (told.output, told.exception)
            assert told.exit_code != 2 or "loadgo: " in told.output, told.output
        file.write_bytes(content)
    assert not unseen, "\n".join([f"{len(unseen)} of {FLIPS // 2}", *unseen])
    assert findings_on(run) == before
