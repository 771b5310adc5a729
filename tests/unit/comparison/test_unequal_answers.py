"""Sides of a comparison that left unequal shares of their lines without an answer."""

from pathlib import Path

import loadgo
import pytest
from support.run_files import written_run
from support.synthetic import interaction, run_of

LINES = 40


def run_with(folder: Path, response_s: float, unanswered: int) -> str:
    """A run of four users, each of whom has the last `unanswered` lines without an answer."""
    rows = [
        interaction(user, 100.0 * line + user, None if line >= LINES - unanswered else response_s + 0.01 * (line % 5))
        for user in range(1, 5)
        for line in range(LINES)
    ]
    return str(written_run(folder, run_of(rows, users=4)))


@pytest.mark.parametrize(
    ("before", "after", "named"), [(0, 12, "after"), (12, 0, "before"), (12, 12, None), (0, 0, None)]
)
def test_a_side_without_answers_is_warned_of_since_its_mean_looks_short(
    before: int, after: int, named: str | None, tmp_path: Path
) -> None:
    sides = run_with(tmp_path / "before", 10.0, before), run_with(tmp_path / "after", 8.0, after)
    comparison = loadgo.compare(*sides)
    warnings = [text for text in comparison.to_dict()["warnings"] if "no mean has them" in text]
    assert len(warnings) == (named is not None)
    if named is not None:
        assert warnings[0].startswith(f"{named}: 48 of 160 lines had no answer")
        assert warnings[0] in " ".join(str(comparison.report("text", width=100)).split())
