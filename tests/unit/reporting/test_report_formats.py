"""The report in its other formats: all from one summary, and nothing in it runs or is fetched."""

import base64
import csv
import hashlib
import io
import json
import re
import struct
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from loadgo.documents.formats import REPORT_FORMATS, ReportFormat
from loadgo.measures.summary import Summary, summarize
from loadgo.records.tables import Tables
from loadgo.reporting.report import render
from support.synthetic import Work, closed_loop, empty_run, interaction, run_of

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>|`*_[a](http://evil.example)"


@pytest.fixture(scope="module")
def run() -> Tables:
    """A run whose user named a command to do harm."""
    return closed_loop(12, 20, [Work("edit", 0.05), Work(HOSTILE, 0.2), Work("=1+1", 0.01)], think_s=5.0)


@pytest.fixture(scope="module")
def summary(run: Tables) -> Summary:
    """The summary of a run."""
    return summarize(run)


def text_of(summary: Summary, run: Tables, name: ReportFormat) -> str:
    """The report as a format of text."""
    made = render(summary, run, name, width=120)
    assert isinstance(made, str)
    return made


class Elements(HTMLParser):
    """Every start tag of a page with its attributes, and what its scripts and cells hold."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", {}))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data
        elif self.tags and self.tags[-1][0] in ("td", "th"):
            self.cells.append(data)


@pytest.fixture(scope="module")
def page(summary: Summary, run: Tables) -> Elements:
    """The HTML report, taken apart."""
    elements = Elements()
    elements.feed(_without_breaks(text_of(summary, run, "html")))
    return elements


def _without_breaks(page: str) -> str:
    """The page without the places at which a word may break."""
    return page.replace("<wbr>", "")


def test_html_loads_nothing(summary: Summary, run: Tables, page: Elements) -> None:
    names = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink", "http://www.w3.org/2000/xmlns/"}
    found = set(re.findall(r"https?://[^\s\"'`<>)\\&]+", _without_breaks(text_of(summary, run, "html"))))
    assert found - names == {"http://evil.example"}, "only the user's own text holds an address, and as text"
    for tag, attributes in page.tags:
        assert tag not in ("link", "iframe", "img", "object", "embed", "base", "form"), tag
        assert not {"src", "action", "data"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#"), "a link leads to another place of the page"


def test_html_runs_its_own_two_scripts_and_no_other(page: Elements) -> None:
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    code = page.scripts[1:]
    assert len(code) == 2
    for script in code:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1].split(";")[0]
    assert policy.startswith("default-src 'none'")


def test_html_shows_a_hostile_name_as_it_is(page: Elements) -> None:
    assert HOSTILE in page.cells
    specs = json.loads(page.scripts[0])
    assert set(specs) == {"over-time", "response", "time", "timeline"}
    assert HOSTILE in json.dumps(specs)
    assert "<" not in page.scripts[0]


EXPRESSIONS = {"calculate", "expr", "filter", "labelExpr", "test", "update", "events", "signal"}
"""The keys of a chart whose values the drawing code evaluates."""


def expressions(part: object, key: str = "") -> list[str]:
    """All texts of a chart that the drawing code evaluates."""
    if isinstance(part, dict):
        return [text for name, value in part.items() for text in expressions(value, name)]
    if isinstance(part, list):
        return [text for value in part for text in expressions(value, key)]
    return [part] if isinstance(part, str) and key in EXPRESSIONS else []


def test_no_name_of_a_run_is_in_what_the_drawing_code_evaluates(page: Elements) -> None:
    evaluated = expressions(json.loads(page.scripts[0]))
    assert len(evaluated) > 3
    assert not [text for text in evaluated if "alert" in text or "evil" in text]


def test_json_holds_every_figure_in_full(summary: Summary, run: Tables) -> None:
    document = json.loads(text_of(summary, run, "json"))
    assert [row["name"] for row in document["commands"]] == ["edit", HOSTILE, "=1+1"]
    quantile = summary.command("edit").response.quantile("p90")
    assert document["commands"][0]["response"]["quantiles"][1]["value_ns"] == quantile.value_ns
    assert document["classes"]["total_ns"] == summary.classes.total_ns
    assert document["driver"]["valid"] is True


def test_json_is_json_even_where_a_quantile_has_no_end() -> None:
    run = run_of([interaction(user, 2, None if user < 9 else 1) for user in range(1, 12)])
    document = json.loads(text_of(summarize(run), run, "json"), parse_constant=pytest.fail)
    quantile = document["everything"]["response"]["quantiles"][1]
    assert (quantile["state"], quantile["value_ns"]) == ("never", None)


def test_csv_has_a_row_for_each_command_and_no_formula(summary: Summary, run: Tables) -> None:
    rows = list(csv.DictReader(io.StringIO(text_of(summary, run, "csv"))))
    assert [row["command"] for row in rows] == ["edit", HOSTILE, "'=1+1", "all"]
    assert float(rows[0]["p90_ns"]) == summary.command("edit").response.quantile("p90").value_ns
    assert [int(row["count"]) for row in rows][:3] == [row.response.count for row in summary.commands]


def test_markdown_escapes_what_would_mean_something(summary: Summary, run: Tables) -> None:
    text = text_of(summary, run, "md")
    assert "<script>" not in text.replace("\\<", "")
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables if "alert" in line} <= {
        len(re.findall(r"(?<!\\)\|", line)) for line in tables if line.startswith("| edit")
    }


@pytest.mark.long
@pytest.mark.parametrize("chart", ["over-time", "response", "throughput", "users", "time", "timeline"])
def test_every_chart_is_a_picture(chart: str, summary: Summary, run: Tables) -> None:
    svg = render(summary, run, "svg", chart=chart)
    root = ElementTree.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [element for element in root.iter() if element.tag.endswith(("script", "img", "image"))]
    png = render(summary, run, "png", chart=chart)
    assert isinstance(png, bytes)
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width > 1000
    assert height > 100


@pytest.mark.long
def test_the_same_run_gives_the_same_bytes(run: Tables) -> None:
    for name in ("text", "html", "json", "csv", "md", "svg"):
        assert render(summarize(run), run, name) == render(summarize(run), run, name)


@pytest.mark.parametrize("name", [name for name in REPORT_FORMATS if name not in ("svg", "png")])
def test_a_run_in_which_nothing_happened_has_a_report_in_every_format(name: ReportFormat) -> None:
    empty = empty_run()
    made = text_of(summarize(empty), empty, name)
    if name in ("text", "html", "md"):
        assert "Nobody typed a line" in made
    if name == "json":
        assert json.loads(made)["everything"]["response"]["count"] == 0


def test_a_picture_of_nothing_and_an_unknown_format_or_chart_are_refused_in_words(
    summary: Summary, run: Tables
) -> None:
    empty = empty_run()
    with pytest.raises(ValueError, match="has nothing to show"):
        render(summarize(empty), empty, "svg")
    with pytest.raises(ValueError, match="there are response, throughput"):
        render(summary, run, "svg", chart="pie")
    with pytest.raises(ValueError, match="'pdf' is none of text, html"):
        render(summary, run, "pdf")  # type: ignore[arg-type]
