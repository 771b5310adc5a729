"""Sentences of an HTML page: code for backticks, no break within options and figures, and no markup of others."""

import re

import pytest
from loadgo.documents.as_html import html_document
from loadgo.documents.as_markdown import markdown_document, sentence
from loadgo.documents.as_notebook import notebook_html
from loadgo.documents.as_text import text_document
from loadgo.documents.document import Document, Points
from loadgo.documents.prose import prose

TAG = re.compile(r"<[^>]*>")
WHOLE = re.compile(r'<span style="white-space: nowrap">([^<]*)</span>')


def whole(text: str) -> list[str]:
    """Options and figures that the sentence keeps on one line."""
    return WHOLE.findall(prose(text))


def test_backticks_become_code() -> None:
    assert prose("See `loadgo doctor` first.") == "See <code>loadgo doctor</code> first."


def test_code_may_break_between_its_words_and_not_within_an_option() -> None:
    assert whole("`loadgo report runs/night --failed --format html` has them") == ["--failed", "--format"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("write --full, or --format html", ["--full", "--format"]),
        ("(--max-users 9)", ["--max-users"]),
        ("busy 9.3 %, p90 120 ms after 2 min", ["9.3 %", "120 ms", "2 min"]),
        ("−11 % to +100 %", ["−11 %", "+100 %"]),
        ("198–240 ms of 1,234 s", ["198–240 ms", "1,234 s"]),
        ("21 µs late, 8.5 MB", ["21 µs", "8.5 MB"]),
        ("on 2026-11-28 17:08, not 12026-11-28", ["2026-11-28"]),
        ("5 users in 3 minutes, a 2 sector disk, v1.2 s3", []),
        ("a--b and -- COMMAND and ---", []),
    ],
)
def test_options_and_figures_with_a_unit_are_kept_on_a_line(text: str, kept: list[str]) -> None:
    assert whole(text) == kept


def test_backticks_within_words_are_signs_like_any_other() -> None:
    assert prose("libc.so`0x12 and libm.so`0x34 took most") == "libc.so`0x12 and libm.so`0x34 took most"


def test_a_long_word_may_break() -> None:
    assert whole(f"`{'a-' * 40}b`") == []


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)> & \"quoted\" 'too'",
        "`<script>alert(1)</script>`",
        '`--x"><b>` --on<b> 5 %<i>',
        "an odd ` sign, and `` none, and ` space `",
        "no\nline `ends\nin` code",
    ],
)
def test_nothing_in_a_text_becomes_markup(text: str) -> None:
    shown = prose(text)
    assert set(TAG.findall(shown)) <= {"<code>", "</code>", '<span style="white-space: nowrap">', "</span>"}
    assert "onerror" not in "".join(TAG.findall(shown))


def test_control_characters_are_replaced() -> None:
    assert prose("a\x1b[31m `b\u202e`") == "a�[31m <code>b�</code>"


def test_every_sentence_of_a_page_is_prose() -> None:
    sentence = "Run `loadgo doctor` again"
    document = Document(
        "title",
        sentence,
        (Points("Points", ((sentence, sentence),)),),
        further_answers=(sentence,),
        warnings=(sentence,),
        about=(sentence,),
        notes=(("Note", sentence),),
    )
    assert html_document(document).count("Run <code>loadgo doctor</code> again") == 7
    assert "Run <code>loadgo doctor</code> again" in notebook_html(document, (), None)
    assert "`" not in re.sub(r"(?s)<script.*?</script>|<style>.*?</style>", "", html_document(document))


def test_quoted_lines_keep_their_backticks() -> None:
    document = Document("title", "answer", (Points("", (("a `b`",),), verbatim=True),))
    assert "<li>a `b`</li>" in html_document(document)
    assert "- a \\`b\\`" in markdown_document(document)


def test_code_is_code_in_markdown_too_and_nothing_else_is() -> None:
    assert sentence("Run `loadgo doctor --on *` again") == "Run `loadgo doctor --on *` again"
    assert sentence("an odd ` sign, libc.so`0x12 and <b>") == r"an odd \` sign, libc.so\`0x12 and \<b\>"
    document = Document("title", "See `a_b`.", (), warnings=("See `a_b`.",), notes=(("Note", "See `a_b`."),))
    assert markdown_document(document).count("See `a_b`.") == 3


@pytest.mark.parametrize("width", range(60, 100))
def test_no_line_of_a_text_parts_a_figure_from_its_unit(width: int) -> None:
    answer = "response is worse (+65 %, 1.20 s to 3.45 s of 12.0 kB ± 40.0 ms), " * 9
    lines = text_document(Document("a title", answer, ()), width=width).splitlines()
    assert not any(line.startswith(("%", "s ", "kB", "ms", "40.0")) for line in lines)
    assert " ".join(lines).split() == answer.split()
