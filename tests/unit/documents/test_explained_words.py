"""The words of an HTML page: each odd word is a link to its sentence, which the page has at its end."""

import html
import re

import loadgo
import pytest
from loadgo.documents.as_html import html_document
from loadgo.documents.document import Document
from loadgo.documents.explained_words import ExplainedWords
from loadgo.documents.table import Column, Table
from support.places import TESTS
from support.reported_pages import reported_page

KEPT = TESTS / "runs" / "reported"
LINK = re.compile(r'<a class="word" href="#([\w-]+)" title="([^"]+)">([^<]+)</a>')
ENTRY = re.compile(r'<dt id="([\w-]+)">([^<]+)</dt><dd>([^<]+)</dd>')


OWN_WORDS = {
    "live-exact": {"system call", "page-table fault", "mapping", "others", "sampling", "minor, untimed"},
    "sim-645": {"CPU between faults", "terminal output", "context switch", "memory growth", "supervisor"},
}
"""Words that only the report of this run has, by run."""


@pytest.fixture(scope="module", params=OWN_WORDS)
def run(request: pytest.FixtureRequest) -> str:
    """The name of a recorded run."""
    return str(request.param)


@pytest.fixture(scope="module")
def page(run: str) -> str:
    """The HTML report of a recorded run."""
    return str(loadgo.report(KEPT / run, format="html"))


def test_each_link_of_a_word_leads_to_its_sentence_on_the_page(page: str) -> None:
    entries = {place: (words.split(", "), meaning) for place, words, meaning in ENTRY.findall(page)}
    links = LINK.findall(page)
    assert len(links) > 30
    words = [(place, word.replace("\N{NO-BREAK SPACE}", " ")) for place, _, word in links]
    assert all(word in ", ".join(entries[place][0]) for place, word in words)
    assert all(entries[place][1] == meaning for place, meaning, _ in links)
    assert {place for place, _, _ in links} == set(entries)


def test_the_odd_words_of_a_report_have_their_sentences(run: str, page: str) -> None:
    words = {html.unescape(word).replace("\N{NO-BREAK SPACE}", " ") for _, _, word in LINK.findall(page)}
    assert {
        "p90",
        "p90's 95 %",
        "CPU wait",
        "of non-idle",
        "idle: nothing to run",
        "idle: waiting for a page",
    } <= words
    assert words >= OWN_WORDS[run], words


@pytest.mark.parametrize("format", ["text", "md", "html"])
def test_the_meaning_of_a_category_is_a_note_only_where_there_is_no_list_of_words(run: str, format: str) -> None:
    shown = " ".join(reported_page(run, format, full=True).split())
    notes = [heading for heading in ("Busy: ", "Idle by cause: ") if heading in shown]
    assert bool(notes) == (format != "html"), notes


def test_a_users_names_are_no_words_of_the_page() -> None:
    table = Table("t", (Column("command", ("p90", "user")), Column("p90", ("1 s", "2 s"))))
    page = html_document(Document("d", "a", (table,)))
    assert len(LINK.findall(page)) == 1
    assert "Words on this page" not in html_document(Document("d", "a", ()))


def test_one_word_has_one_meaning_on_a_page_and_is_escaped() -> None:
    words = ExplainedWords()
    assert words.word("a<b", 'says "so"') == '<a class="word" href="#word-1" title="says &#34;so&#34;">a&lt;b</a>'
    assert words.word("a<b", "another meaning") == "a&lt;b"
    assert words.word("plain", "") == "plain"
    for word in ("c", "idle: c"):
        words.word(word, 'says "so"')
    assert words.listed() == [("word-1", "a<b, idle: c", 'says "so"')]


def test_the_name_of_a_setting_may_break_after_its_dots() -> None:
    words = ExplainedWords()
    assert words.heading("processors.speed") == "processors.<wbr>speed"
    assert words.heading("p90 < 4.5s") == "p90\N{NO-BREAK SPACE}&lt;\N{NO-BREAK SPACE}4.5s"
    assert words.heading("95 % interval").count("<wbr>") == 0
