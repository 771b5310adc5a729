"""The lines that failed, timed out or died: each with its condition and its last screen, harmless to a terminal."""

import dataclasses
import json
import unicodedata

import loadgo
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.errors import BadArgument
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from loadgo.reporting.failed_lines import failed_lines_of, failed_report, printable_screen
from loadgo.reporting.words import answer
from support.places import TESTS
from support.synthetic import S, frame, interaction, run_of

PROMPT_MARK = "$ \x1b]133;D;1;aid=0123456789abcdef\x07"


def failing_run() -> Tables:
    """A good line, one that waited for the wrong pattern, one with a bad status, and one that died without a screen."""
    rows = [
        interaction(1, 2, 1),
        interaction(1, 4, None, line=2, outcome="timeout", command="python3"),
        interaction(2, 6, 0.25, outcome="failed", exit_status=1),
        interaction(2, 8, None, outcome="died"),
    ]
    screens = [
        {
            "at_ns": 7 * S,
            "user": 1,
            "sent_ns": 4 * S,
            "until": 'until = "Ready> "',
            "screen": "python3\r\nhi\r\nready> ",
        },
        {"at_ns": 6 * S, "user": 2, "sent_ns": 6 * S, "until": 'until = "mark"', "screen": f"no file\r\n{PROMPT_MARK}"},
    ]
    return dataclasses.replace(run_of(rows), screens=frame(screens, "screens"))


def test_each_bad_line_has_its_condition_and_its_screen() -> None:
    text = failed_report(failing_run())
    assert text.startswith("3 of 4 lines failed, timed out or died")
    assert 'user 1, pass 1, line 2, python3: timed out after 3.00 s; it waited for until = "Ready> "' in text
    assert "    │ python3\n    │ hi\n    │ ready>\n    the output ends with “ready> ”" in text
    assert "user 2, pass 1, line 1, edit: ended with status 1 after 250 ms" in text
    assert "    │ no file\n    │ $\n" in text, "the prompt's mark is no text"
    assert text.endswith("the session ended\n    its last screen was not kept\n")


def test_a_text_shows_as_many_lines_as_asked_and_says_how_many_are_left() -> None:
    text = failed_report(failing_run(), most=1)
    assert text.count("user ") == 1
    assert "2 more" in text


def test_lines_that_ended_alike_are_shown_once_with_their_number() -> None:
    rows = [interaction(user, 2, 1, outcome="failed", exit_status=1) for user in range(1, 41)]
    rows += [interaction(user, 4, None, outcome="timeout", command="run") for user in range(1, 4)]
    screens = [
        {
            "at_ns": 3 * S,
            "user": row["user"],
            "sent_ns": row["sent_ns"],
            "until": 'until = "mark"',
            "screen": "disk full",
        }
        for row in rows
        if row["outcome"] == "failed"
    ]
    run = dataclasses.replace(run_of(rows), screens=frame(screens, "screens"))
    text = str(failed_report(run))
    assert text.startswith("43 of 43 lines failed")
    assert text.count("disk full") == 1
    assert "; 39 more ended so" in text
    assert "; 2 more ended so" in text
    assert "2 more ended so" not in str(failed_report(run, most=1))
    assert "3 more: --top 2 shows all" in str(failed_report(run, most=1))
    assert "39 more ended so" in str(failed_report(run, "html"))
    assert len(json.loads(str(failed_report(run, "json")))["failed"]) == 43


def test_json_has_the_screen_as_it_was_recorded_and_nothing_that_a_terminal_obeys() -> None:
    written = failed_report(failing_run(), "json")
    assert "\x1b" not in written
    failed = json.loads(written)["failed"]
    assert [row["outcome"] for row in failed] == ["timeout", "failed", "died"]
    assert [row["screen"] for row in failed] == ["python3\r\nhi\r\nready> ", f"no file\r\n{PROMPT_MARK}", None]
    assert [row["waited_ns"] for row in failed] == [3 * S, S // 4, None]


def test_another_format_is_refused() -> None:
    with pytest.raises(BadArgument, match="format 'pdf' is none of text, html, json, csv, md"):
        failed_report(failing_run(), "pdf")


@pytest.mark.parametrize("form", ["html", "md", "csv"])
def test_every_format_has_the_lines_and_nothing_that_a_terminal_obeys(form: str) -> None:
    text = str(failed_report(failing_run(), form))
    assert "no file" in text
    assert "ready" in text
    assert "\x1b" not in text


def test_a_run_in_which_nothing_failed_says_so() -> None:
    assert failed_report(run_of([interaction(1, 2, 1)])) == "No line failed, timed out or died; 1 were sent.\n"


def test_a_run_from_before_the_screens_is_read() -> None:
    folder = TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-ended"
    text = loadgo.report(folder, failed=True)
    assert isinstance(text, str)
    assert "its last screen was not kept" in text


def test_the_answer_names_the_option_where_lines_failed() -> None:
    assert "loadgo report --failed" in answer(summarize(failing_run()))
    assert "--failed" not in answer(summarize(run_of([interaction(1, 2, 1)])))


def test_escape_sequences_and_controls_are_no_text() -> None:
    assert printable_screen("\x1b[2J\x1b[1;31mred\x1b[0m\x1b(B\x1b]0;title\x1b\\!\x9b2J\x07") == ["red!�2J�"]
    assert printable_screen("\r\na\tb\r\n\x1b[") == ["a       b", ""]


@given(
    st.text(alphabet=st.characters(), max_size=300) | st.text(alphabet="\x1b[]P;0Am\x07\\\r\n\x08\x9b ", max_size=80)
)
def test_no_character_of_a_screen_can_control_the_terminal(screen: str) -> None:
    for row in printable_screen(screen):
        assert not [character for character in row if unicodedata.category(character) in ("Cc", "Cf", "Cs")]


def test_the_screens_of_a_run_without_bad_lines_are_an_empty_table() -> None:
    assert run_of([interaction(1, 2, 1)]).screens.schema["screen"] == pl.String
    assert failed_lines_of(run_of([interaction(1, 2, 1)])) == ()
