"""Sides of a comparison that left unequal shares of their lines without an answer."""

from dataclasses import replace
from pathlib import Path

import loadgo
import pytest
from loadgo.comparison.difference import Difference
from loadgo.comparison.judgement import Judged
from loadgo.stats.interval import Interval
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


@pytest.mark.parametrize(
    ("before", "after", "response_s", "verdict"),
    [
        (0, 12, 8.0, "cannot tell"),  # faster in those that were answered, and three in ten were not
        (12, 0, 8.0, "better"),  # faster, and answers more
        (12, 12, 8.0, "better"),  # faster, and answers as many
        (0, 1, 8.0, "better"),  # six in a thousand, which would have to wait for a hundred times as long
        (0, 1, 10.0, "cannot tell"),  # as fast, and answers less
        (0, 12, 12.0, "worse"),  # slower, and answers less
        (12, 0, 12.0, "cannot tell"),  # slower in those that were answered, but answers more
        (0, 0, 10.0, "no difference"),
    ],
)
def test_the_verdict_on_a_mean_is_the_same_whenever_the_other_lines_would_have_been_answered(
    before: int, after: int, response_s: float, verdict: str, tmp_path: Path
) -> None:
    sides = run_with(tmp_path / "before", 10.0, before), run_with(tmp_path / "after", response_s, after)
    comparison = loadgo.compare(*sides, worse=["response=5%"])
    response = replace(comparison.rows.whole["response"], drift="none")
    assert response.verdict == verdict
    assert (response.cannot_tell_by == "unanswered") == (verdict == "cannot tell")
    (finding,) = comparison.findings
    if verdict == "cannot tell" and after > before:
        assert finding.failed is None
        assert "with them it may be worse by more than 5 %" in finding.text
    text = " ".join(str(comparison.report("text", width=200)).split())
    is_said = "the verdict on the response of `edit` and a mean interaction may be another" in text
    assert is_said == (verdict == "cannot tell")
    assert ("of the lines that were answered)" in text) == (verdict == "cannot tell")


def test_quantiles_count_lines_without_an_answer_as_the_longest_and_keep_their_verdicts(tmp_path: Path) -> None:
    sides = run_with(tmp_path / "before", 10.0, 0), run_with(tmp_path / "after", 8.0, 12)
    comparison = loadgo.compare(*sides)
    whole = comparison.rows.whole
    assert whole["p90 response"].change is None
    assert replace(whole["p50 response"], drift="none").verdict == "better"
    assert "too few runs to judge response, p50 (" in str(comparison.report("text", width=400))


def test_figures_without_an_interval_are_no_longer_called_lower_if_lines_had_no_answer() -> None:
    lower = Difference("response", 10.0, 8.0, None)
    assert lower.verdict == "lower"
    assert replace(lower, by_unanswered=Interval(0.5, 1.0)).verdict == "lower"
    assert replace(lower, by_unanswered=Interval(0.5, 9.0)).verdict == "cannot tell"


def test_a_prediction_is_not_inside_if_lines_without_an_answer_may_be_outside() -> None:
    judged = Judged("response", 10.0, 10.2, Interval(-0.5, 0.9), within=0.2)
    assert judged.judgement == "inside"
    assert replace(judged, by_unanswered=Interval(0.5, 9.0)).judgement == "too wide to judge"
    outside = Judged("response", 10.0, 6.0, Interval(-4.5, -3.5), within=0.2)
    assert outside.judgement == "outside"
    assert replace(outside, by_unanswered=Interval(0.5, 9.0)).judgement == "too wide to judge"
