"""The face of every result of the library: a line, a page for a notebook, each format, frames and a chart."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.documents.chart import altair_chart
from loadgo.documents.document import Document
from loadgo.documents.formats import PICTURE_FORMATS, REPORT_FORMATS
from loadgo.documents.listing import Listing, listing_presentation
from loadgo.documents.presentation import Presentation
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.records.runs import RecordedRun, RunList
from support.results import MAKERS, METERED, WITH_CHARTS


@pytest.fixture(scope="module", params=MAKERS)
def named(request: pytest.FixtureRequest, made: Callable[[str], Result]) -> tuple[str, Result]:
    """A result of each kind, with the name of its maker."""
    return request.param, made(request.param)


def test_a_result_is_displayed_as_one_short_line(named: tuple[str, Result]) -> None:
    name, result = named
    assert repr(result).startswith(f"<{name.split()[0]}: ")
    assert len(repr(result)) < 200
    assert repr(result).isprintable()


def test_a_notebook_shows_the_answer_in_little_html_that_loads_nothing(named: tuple[str, Result]) -> None:
    name, result = named
    html = result._repr_html_()
    assert len(html.encode()) < 200_000
    assert "<table" in html or "<li>" in html
    assert not re.search(r"<script|<style|<link|https?://[^\"]*\"|@import|on\w+=", html.partition("<img")[0])
    assert all(source.startswith("data:image/") for source in re.findall(r'(?:src|href)="([^"]*)"', html))
    assert ("<img" in html) == (name in WITH_CHARTS)
    assert "<b>" not in html


def test_to_dict_is_the_json_in_which_no_number_is_nan(named: tuple[str, Result]) -> None:
    _name, result = named
    text = result.report("json")
    members = json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    assert members["format"] == 1
    assert result.to_dict() == members


def test_the_csv_is_the_main_frame(named: tuple[str, Result]) -> None:
    _name, result = named
    head, *rows = csv.reader(io.StringIO(str(result.report("csv"))))
    main = result.frame()
    assert head == main.columns
    assert len(rows) == main.height > 0
    frames = result.frames()
    assert main.equals(frames[next(iter(frames))])
    assert all(isinstance(frame, pl.DataFrame) and frame.width for frame in frames.values())
    with pytest.raises(BadArgument, match=f"there is no frame 'none'; there are {', '.join(frames)}"):
        result.frame("none")


def test_each_format_has_a_report(named: tuple[str, Result]) -> None:
    _name, result = named
    text, page, markdown = (str(result.report(form, width=100)) for form in ("text", "html", "md"))
    assert page.startswith("<!doctype html>")
    assert text.strip()
    assert markdown.strip()
    with pytest.raises(BadArgument, match=f"format 'pdf' is none of {', '.join(REPORT_FORMATS)}"):
        result.report("pdf")


def test_80_columns_cut_no_word_without_a_sign(named: tuple[str, Result]) -> None:
    _name, result = named
    narrow = str(result.report("text", width=80))
    assert [line for line in narrow.splitlines() if len(line) > 80] == []
    narrow = re.sub(r"Not shown in 80 characters: .*?(?=\n\n|\Z)", "", narrow, flags=re.DOTALL)
    whole = _words(str(result.report("text", width=300)))
    # A path or a checksum that is longer than its column goes on in the next line.
    long = [word for word in whole if len(word) > LONG_WORD_CHARS]
    cut = _words(narrow) - whole
    assert {word for word in cut if "…" not in word and not any(word in path for path in long)} == set()


def test_every_interval_in_a_table_is_written_alike(named: tuple[str, Result]) -> None:
    """As `198–240 ms`: without spaces around the dash, and without a unit that both ends have."""
    _name, result = named
    cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", str(result.report("html")))
    texts = [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in cells]
    assert [text for text in texts if re.search(r"\d.* – .*\d", text)] == []
    assert [text for text in texts if re.fullmatch(r"[\d.]+ (\S+)–[\d.]+ \1", text)] == []


LISTS = ("RunList", "MachineList", "ScriptList", "AbilityList")
TRUST_LINE = re.compile(r"Trust(?: in the data)?: (high|moderate|low)[:.] ?")


def test_each_result_with_figures_says_whether_to_believe_it(named: tuple[str, Result]) -> None:
    """Lists have no figures to believe. Everywhere else the line stands before the first table, on each page."""
    name, result = named
    text, page, markdown = (str(result.report(form, width=100)) for form in ("text", "html", "md"))
    for shown in (text, page, markdown):
        assert (TRUST_LINE.search(shown) is None) == (name in LISTS)
    if name not in LISTS:
        assert any(TRUST_LINE.match(line) for line in text.splitlines()[:20])
        stated = TRUST_LINE.search(page)
        assert stated is not None
        assert stated.start() < page.index("<table" if "<table" in page else "<li>")


LONG_WORD_CHARS = 40


def _words(text: str) -> set[str]:
    return set(re.findall(r"\S*[A-Za-z]{2}\S*", text))


@pytest.mark.long
def test_a_result_draws_its_chart_or_says_that_it_has_none(named: tuple[str, Result]) -> None:
    name, result = named
    if name in WITH_CHARTS:
        draws(result)
        return
    for picture in PICTURE_FORMATS:
        with pytest.raises(
            BadArgument, match="there is no chart of this result: its formats are text, html, json, csv"
        ):
            result.report(picture)


def draws(result: Result) -> None:
    assert str(result.report("svg")).startswith("<svg")
    assert bytes(result.report("png")).startswith(b"\x89PNG")  # type: ignore[arg-type]
    assert result.chart().to_dict()["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    with pytest.raises(BadArgument, match="there is no chart 'none'; there are "):
        result.chart("none")


@pytest.mark.long
def test_every_chart_is_what_vega_lite_allows(named: tuple[str, Result]) -> None:
    """Charts are made without Altair's checks; here each is compared with the schema of Vega-Lite."""
    _name, result = named
    for chart in result._presentation().all_charts():
        altair_chart(chart).to_dict(validate=True)


@pytest.mark.long
def test_a_run_has_the_charts_of_its_report_by_name(results_folder: Path) -> None:
    run = MAKERS["Run"](results_folder)
    for name in ("response", "throughput", "over-time", "over-time:compile"):
        assert run.report("svg", chart=name) == loadgo.report(results_folder / run.folder, format="svg", chart=name)
    assert run.report("svg") == loadgo.report(results_folder / run.folder, format="svg")
    assert run.chart("throughput").to_dict()["title"]["text"] == "Throughput"


def test_the_picture_of_a_metering_shows_the_processors_time(results_folder: Path) -> None:
    metered = MAKERS["Metered"](results_folder)
    assert metered.report("svg") == loadgo.report(METERED, format="svg", phases="all")
    assert "Where the processors' time went" in str(metered.report("svg"))


INPUTS = frozenset(
    {"Ability", "Driver", "EachLimits", "Laboratory", "Limits", "Load", "Machine", "Metering", "Recorded"}
)
INPUTS |= {"Script", "Tables", "Variant", "Watching"}
"""The public classes that are no results by themselves."""


def test_every_public_result_is_here() -> None:
    public = {name for name in loadgo.__all__ if isinstance(getattr(loadgo, name), type)}
    results = {name for name in public if issubclass(getattr(loadgo, name), Result)}
    assert results == public - INPUTS
    assert results <= {name.split()[0] for name in MAKERS}


def test_the_json_of_a_recorded_run_is_that_of_the_run(results_folder: Path) -> None:
    run = MAKERS["Run"](results_folder)
    assert isinstance(run, loadgo.Run)
    (recorded,) = [one for one in loadgo.runs(results_folder) if one.folder.name == run.folder.name]
    assert recorded.to_dict() == run.to_dict() == json.loads(loadgo.report(run, format="json"))


def test_every_heading_of_a_page_has_an_id_of_its_own(named: tuple[str, Result]) -> None:
    _name, result = named
    page = re.sub(r"(?s)<script.*?</script>", "", str(result.report("html")))
    assert [heading for heading in re.findall(r"<h[2-6][^>]*>", page) if " id=" not in heading] == []
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


JSON_WITH_WARNINGS = ("Run", "RecordedRun", "Metered", "Comparison", "Experiment", "Capacity", "History")


def test_the_json_has_the_warnings_of_the_page(named: tuple[str, Result]) -> None:
    name, result = named
    if name in JSON_WITH_WARNINGS:
        assert result.to_dict()["warnings"] == list(result._presentation().document().warnings)


@pytest.mark.parametrize("made_of_runs", [lambda a, b: loadgo.compare(a, b), lambda a, _b: loadgo.cost(a)])
def test_the_warnings_of_a_run_stand_over_what_is_made_of_it(made_of_runs: Callable[[str, str], Result]) -> None:
    """In every format, once, and in words that cannot be read as their contrary."""
    damaged, other = (str(METERED.parent / name) for name in ("damaged", "live-exact"))
    result = made_of_runs(damaged, other)
    shown = [str(result.report(form)) for form in ("text", "html", "md", "json", "svg")]
    for page in (*shown, result._repr_html_()):
        words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
        assert "1 record is lost" in words
        assert "The run was cut off" in words
        assert "nothing is lost: 1" not in words


def test_a_name_in_html_is_text() -> None:
    evil = RecordedRun("<b>x</b>", Path("x"), "<script>alert(1)</script>\x1b[31m", "here", 1, None, True, "done", 1)
    html = RunList([evil])._repr_html_()
    assert "&lt;script&gt;alert(1)" in html
    assert "<b>" not in html
    assert "\x1b" not in html
    assert "\x1b" not in repr(evil)


def test_a_notebook_leaves_out_the_rows_of_a_long_table() -> None:
    rows = tuple((f"row {number}", "s" * 500) for number in range(900))
    records = tuple({"name": name, "text": text} for name, text in rows)
    long_list = listing_presentation(Listing("rows", ("name", "text"), rows, ("name", "text"), records))
    html = long_list.notebook_html()
    assert "875 more rows: <code>.frame()</code> has all." in html
    assert len(html.encode()) < 200_000
    assert long_list.frame().height == 900


def test_a_notebook_and_each_format_make_the_document_once() -> None:
    document_calls = []

    def document() -> Document:
        document_calls.append(True)
        return Document("rows", "A row.", ())

    def parts() -> Presentation:
        document_calls.clear()
        return Presentation(document, lambda: "{}", {})

    for show in (
        lambda shown: shown.notebook_html(),
        lambda shown: (shown.report("html"), shown.report("text"), shown.report("md"), shown.line()),
    ):
        show(parts())
        assert len(document_calls) == 1


def test_a_notebook_shows_the_last_of_many_runs() -> None:
    runs = RunList(RecordedRun(f"run {n}", Path("x"), "s" * 500, "here", n, None, True, "done", n) for n in range(900))
    html = runs._repr_html_()
    assert "The last 20 of 900 runs" in html
    assert "run 899" in html
    assert len(html.encode()) < 200_000
    assert runs.frame().height == 900


def test_a_comparison_shows_its_figures_before_what_differs(results_folder: Path) -> None:
    compared = loadgo.compare(results_folder / "a", results_folder / "b")
    judged = loadgo.compare(results_folder / "a", results_folder / "b", judge=True)
    assert [re.findall("<caption[^>]*>([^<:]*)", html._repr_html_()) for html in (compared, judged)] == [
        ["Response time"],
        ["A as a prediction of B"],
    ]


def test_a_column_without_values_joins_one_with_values(results_folder: Path) -> None:
    short, long = (
        loadgo.compare(results_folder / "a", results_folder / "b").frame(),
        loadgo.compare("mpl-16:ctss", "mpl-16:multics").frame(),
    )
    assert short["b_low"].dtype == pl.Float64
    assert pl.concat([short, long]).height == short.height + long.height


def test_metering_without_a_folder_has_nothing_to_show() -> None:
    metered = loadgo.Metered(None, "done", None, None)
    assert repr(metered) == "<Metered: done, nothing recorded>"
    with pytest.raises(BadArgument, match="nothing was recorded"):
        metered.report()
