"""`loadgo report --failed` from the command line: its output, its formats, and the options that it refuses."""

import csv
import io
import json
from pathlib import Path

import pytest
from loadgo.cli.app import app
from support.places import TESTS
from typer.testing import CliRunner

FOLDER = str(TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-ended")
"""A run with a line that died, from before screens were kept."""


def printed(*options: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, ["report", FOLDER, "--failed", *options])
    assert result.exit_code == status, result.output
    return " ".join(result.output.split()) if status else result.output


def test_text_and_json_name_the_same_lines() -> None:
    assert printed().startswith("1 of 6 lines failed, timed out or died")
    (failed,) = json.loads(printed("--format", "json"))["failed"]
    assert (failed["pass"], failed["outcome"], failed["screen"]) == (1, "died", None)


def test_the_lines_go_into_a_file(tmp_path: Path) -> None:
    printed("-o", str(tmp_path / "failed.txt"))
    assert (tmp_path / "failed.txt").read_text().startswith("1 of 6 lines")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--format", "svg"), "there is no chart of this result: its formats are text, html, json, csv, md"),
        (("--fail-if", "errors > 0"), "leave out --failed or --fail-if"),
    ],
)
def test_what_makes_no_sense_with_it_is_refused(options: tuple[str, ...], words: str) -> None:
    assert words in printed(*options, status=2)


def test_html_markdown_and_csv_name_the_line_too() -> None:
    page, markdown = (printed("--format", name, "-o", "-") for name in ("html", "md"))
    assert "the session ended" in page
    assert "its last screen was not kept" in markdown
    (failed,) = csv.DictReader(io.StringIO(printed("--format", "csv")))
    assert (failed["pass"], failed["outcome"], failed["screen"]) == ("1", "died", "")
