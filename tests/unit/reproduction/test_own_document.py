"""`loadgo reproduce FILE`: the figures of a user's own document are checked, and nothing is run."""

import json
from pathlib import Path

import pytest
from loadgo.reproduction.reproduce import reproduce
from support.command_line import typed
from support.own_figures import SMALLEST, WHOLE, written

TOTALS = (
    WHOLE
    + """
[[totals]]
name = "fault"
unit = "ms"
is   = "{sides/elapsed_s/before} * {sides/time/page fault/before} * 10 / {sides/counts/page fault/before}"
[[passages]]
text = "The script had {lines:221} lines."
unit = "lines"
"""
)


def test_a_document_without_contradiction_is_good(tmp_path: Path) -> None:
    written(tmp_path, WHOLE)
    page = " ".join(typed(tmp_path, "reproduce", "before.toml", status=0).stdout.split())
    assert "All 3 relations hold between the 11 figures of before." in page
    assert "No model computes it" in page
    assert "context switch, % of all time 23.13" in page


def test_a_contradiction_is_shown_with_its_numbers_and_is_exit_status_1(tmp_path: Path) -> None:
    written(tmp_path, WHOLE.replace("53.33", "63.33"))
    page = " ".join(typed(tmp_path, "reproduce", "before.toml", status=1).stdout.split())
    assert "before contradicts itself in 1 place." in page
    assert "The parts of the total time table of before are all of the time, 100 %. This contradicts itself." in page
    assert "sides/time/user/before: 63.33 + 20.35 + 23.13 + 2.04 + 1.15 = 110 ≠ 100" in page
    assert "If sides/time/user/before, printed 63.33, is 53.33, it holds." in page


def test_a_last_digit_alone_is_no_bad_finding(tmp_path: Path) -> None:
    written(tmp_path, WHOLE.replace("idle             = 3.19", "idle = 3.20"))
    reproduction = reproduce(tmp_path / "before.toml")
    assert [finding.degree for finding in reproduction.documents[0].findings] == ["last digit"]
    assert not reproduction.bad
    page = " ".join(typed(tmp_path, "reproduce", "before.toml", status=0).stdout.split())
    assert "before contradicts itself in 1 place, all in the last digit alone." in page


def test_a_document_that_says_nothing_of_its_figures_cannot_be_checked(tmp_path: Path) -> None:
    answer = reproduce(written(tmp_path, SMALLEST)).report(width=120)
    assert "before has 2 figures, and nothing by which one could be checked." in " ".join(str(answer).split())


def test_totals_and_running_text_are_shown_too(tmp_path: Path) -> None:
    written(tmp_path, TOTALS)
    page = " ".join(typed(tmp_path, "reproduce", "before.toml", status=0).stdout.split())
    assert "fault 3.32 ms" in page
    assert "lines 221 lines" in page


@pytest.mark.parametrize("format", ["text", "html", "md", "json", "csv"])
def test_every_format_has_the_contradiction_or_the_figures(tmp_path: Path, format: str) -> None:
    report = str(reproduce(written(tmp_path, TOTALS.replace("53.33", "63.33"))).report(format))
    assert "63.33" in report
    if format != "csv":
        assert "contradicts itself" in report
    if format == "json":
        content = json.loads(report)
        assert content["bad"]
        assert {figure["verdict"] for figure in content["documents"][0]["figures"]} == {"not modelled"}


@pytest.mark.parametrize("width", [80, 120])
def test_a_page_is_no_wider_than_asked(tmp_path: Path, width: int) -> None:
    report = str(reproduce(written(tmp_path, TOTALS.replace("53.33", "63.33"))).report(width=width))
    assert max(map(len, report.splitlines())) <= width


def test_a_file_that_there_is_not_and_a_name_that_there_is_not_are_refused(tmp_path: Path) -> None:
    assert "there is no file absent.toml" in typed(tmp_path, "reproduce", "absent.toml", status=2).stderr
    assert "or name a file.toml" in " ".join(typed(tmp_path, "reproduce", "absent", status=2).stderr.split())
    written(tmp_path, SMALLEST)
    refusal = typed(tmp_path, "reproduce", "before.toml", "--here", status=2).stderr
    assert "has no transfers that can be repeated on this host" in " ".join(refusal.split())
