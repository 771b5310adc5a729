"""A reproduction on a terminal, as a page, and as data: the same figures, each where the document has it."""

import csv
import html
import json
import re
from dataclasses import replace
from functools import cache
from io import StringIO

import pytest
from loadgo.published.catalogue import documents
from loadgo.published.document import Tolerance
from loadgo.reproduction.charts import charts
from loadgo.reproduction.models.values import Area, Plot, PlottedCurve
from loadgo.reproduction.reproduce import BAD_VERDICTS, Reproduction, judge_document
from loadgo.reproduction.verdict import tolerances_in_words
from loadgo.reproduction.words import distinct_names, document_answer, figure_name
from support.printed_values import as_printed

PLOT = Plot(
    name="users-by-faults",
    document="mpl-16",
    title="Number of users",
    x="Average number of page faults per command",
    y="users",
    curves=(
        PlottedCurve("the model", ((10.0, 40.0), (200.0, 12.0))),
        PlottedCurve("maximum allowed", ((0.0, 70.0), (200.0, 70.0)), dashed=True),
    ),
    areas=(Area("current area of operation", 150.0, 200.0, 5.0, 12.0),),
    how="a made-up curve",
)


@cache
def told() -> Reproduction:
    """All documents, with a model that gives a tenth more than what is printed."""
    found = tuple(judge_document(one, as_printed(one, 1.1)) for one in documents())
    return Reproduction(
        tuple(replace(one, plots=(PLOT,)) if one.document.name == "mpl-16" else one for one in found), 0, 1.0
    )


def lines(width: int) -> list[str]:
    return told().report(width=width).splitlines()


def test_the_summary_says_what_findings_are_and_what_the_exit_status_means() -> None:
    text = " ".join(lines(100))
    assert "findings: places where the document contradicts itself" in text
    assert "The exit status is 1 if a figure is outside its tolerance" in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, lines(width))) <= width


@pytest.mark.parametrize("width", [80, 120])
def test_a_row_stands_as_it_is_printed_with_ours_below(width: int) -> None:
    shown = lines(width)
    at = next(i for i, line in enumerate(shown) if re.match(r"CPU, good \(3\):\s+7,999 sec f\s+4,031 sec p", line))
    assert re.match(r"\s*ours\s+8,799\s+4,434", shown[at + 1])
    assert re.match(r"\s*ratio\s+×1.1\s+×1.1", shown[at + 2])


@pytest.mark.parametrize("format", ["text", "html", "md", "csv", "json"])
def test_every_printed_figure_is_in_every_format(format: str) -> None:
    text = re.sub(r"\s+", " ", told().report(format, width=120)).replace("\\", "")
    for again in told().documents:
        for figure in again.document.figures.values():
            printed = (
                figure.text.replace("&", "&amp;") if format in ("html", "md") and "&" in figure.text else figure.text
            )
            words = printed.replace("'", "&#39;") if format == "html" else printed
            if len(words) <= 20:
                assert words in text or figure.text in text, (format, figure.id)


def test_what_is_outside_is_said_with_its_reason() -> None:
    text = "\n".join(lines(120))
    assert "Not as it should be" in text
    assert re.search(r"summary/swap/value: printed 145 milliseconds, ours 160, tolerance 5 %", text)
    assert told().bad


def test_the_answer_of_several_documents_has_numbers_and_says_what_was_compared() -> None:
    everything = told()
    held, off = everything.count("within", "misprint"), everything.count(*BAD_VERDICTS)
    text = " ".join(everything.report(width=100).split())
    assert text.startswith(
        f"{held} of {held + off} figures that simulated machines predict are within their tolerance of the printed "
        f"ones (tolerances up to a factor of 4 or 10 points); {off} are not. {len(everything.documents)} documents "
        "have "
    )
    assert "of simulated machines that are made like them (ours)" in text


def test_the_answer_says_how_many_predictions_hold_and_names_those_that_fail() -> None:
    csr = next(one.document for one in told().documents if one.document.name == "csr-rfc-20")
    key = "csr-rfc-20/results/ttm-idle-zero/6180"
    values = dict(as_printed(csr, 1.0))
    reproduced = judge_document(csr, values)
    held = reproduced.count("within", "misprint")
    assert document_answer(reproduced).startswith(f"All {held} predictions hold (tolerances up to ")
    off = judge_document(csr, values | {key: replace(values[key], value=2 * values[key].value)})
    wide = re.search(r" \(tolerances up to [^)]+\)", document_answer(off))
    assert wide is not None
    assert document_answer(off).startswith(f"{held - 1} of {held} predictions hold{wide[0]}; idle zero (6180) fails. ")
    text = Reproduction((off,), 0, 1.0).report(width=100)
    assert " ".join(text.split()).startswith(f"{held - 1} of {held} predictions hold{wide[0]}; idle zero (6180) fails.")
    assert text.index("Not as it should be") < text.index("III Results"), "failures come before the figures"
    page = Reproduction((off,), 0, 1.0).report("html")
    assert page.index("Not as it should be") < page.index("III Results")
    assert figure_name("ed1 · Run Time") == "ed1 (Run Time)"
    assert figure_name("16 · runtime", "table-1") == "table 1 row 16 (runtime)"
    assert figure_name("Idle, zero · 6180", "table-1") == "idle zero (6180)"


def test_figures_with_one_name_are_told_apart_by_their_rows() -> None:
    keys = ("d/t/1-compile/page", "d/t/2-compile/page", "d/t/run/page")
    names = dict(zip(keys, ("mad (Page Time)", "mad (Page Time)", "run (Page Time)"), strict=True))
    assert distinct_names(names) == [
        "mad (Page Time) of row 1-compile",
        "mad (Page Time) of row 2-compile",
        "run (Page Time)",
    ]


def test_findings_are_told_with_their_numbers() -> None:
    text = " ".join(" ".join(lines(120)).split())
    assert "4.40 ≠ 2.10 + 0.200 = 2.30" in text
    assert "If commands/2-rename/ctss-total, printed 4.4, is 2.3, 2 claims hold." in text
    assert "the formula is upside down, and the column clock is cut off, not rounded" in text
    assert "5/13/69 ≠ 5/12/69" in text


def test_the_csv_has_a_row_for_each_figure_and_total() -> None:
    rows = list(csv.DictReader(StringIO(told().report("csv"))))
    expected = sum(len(again.cells) + len(again.totals) for again in told().documents)
    assert len(rows) == expected
    row = next(row for row in rows if row["id"] == "csr-rfc-20/results/elapsed/6180")
    assert (row["printed"], row["mark"], row["verdict"]) == ("91.4 min", "predicted", "within")
    assert float(row["ours"]) == pytest.approx(100.54)


def test_the_json_holds_findings_and_curves() -> None:
    whole = json.loads(told().report("json"))
    assert whole["bad"] is True
    mpl = next(one for one in whole["documents"] if one["name"] == "mpl-16")
    assert mpl["plots"][0]["curves"]["the model"] == [[10.0, 40.0], [200.0, 12.0]]
    assert {"figure": "mpl-16/commands/2-rename/ctss-total", "corrected": 2.3} in [
        suspect for finding in mpl["findings"] for suspect in finding["suspects"]
    ]


def test_the_page_loads_nothing_and_draws_every_chart() -> None:
    page = told().report("html")
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "default-src 'none'" in html.unescape(page)
    names = [chart.name for again in told().documents for chart in charts(again)]
    assert len(names) == len(set(names))
    assert "users-by-faults" in names
    for name in names:
        assert f'id="chart-{name}"' in page


def test_the_page_begins_with_the_failures_of_all_documents_and_lists_the_documents() -> None:
    page = html.unescape(told().report("html"))
    failures = page[page.index('<h2 id="not-as-it-should-be"') : page.index('<h2 id="figures-by-verdict"')]
    bad = [again.document.name for again in told().documents if again.count("outside")]
    assert len(bad) > 1
    assert all(f"<li>{name}: " in failures for name in bad)
    assert page.count('<h2 id="not-as-it-should-be') == 1
    contents = page[page.index('<nav class="contents"') : page.index("</nav>")]
    names = [again.document.name for again in told().documents]
    assert re.findall('href="#(.*?)"', contents) == [
        "not-as-it-should-be", "figures-by-verdict", "what-the-letters-mean", *names
    ]  # fmt: skip
    first, *others = page.split('<h2 id="mpl-16')
    assert others
    assert 'id="chart-ratios-mpl-16"' in page[len(first) : page.index('<h2 id="mpl-16-', len(first))]


def test_a_chart_of_axes_has_curve_limit_and_area() -> None:
    again = next(one for one in told().documents if one.document.name == "mpl-16")
    spec = json.dumps(charts(again)[0].spec)
    for word in ("the model", "maximum allowed", "current area of operation", "page faults per command"):
        assert word in spec


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="none of"):
        told().report("pdf")


def test_the_chart_of_predictions_has_as_many_figures_as_the_text_or_says_why_not() -> None:
    for reproduced in told().documents:
        predicted = reproduced.count("within", "outside", "misprint")
        (caption,) = (chart.caption for chart in charts(reproduced) if chart.name.startswith("ratios-"))
        drawn = int(caption.split()[0])
        if drawn == predicted:
            assert caption.startswith(f"{predicted} predicted figures; ")
        else:
            verb = "has" if predicted - drawn == 1 else "have"
            start = f"{drawn} of {predicted} predicted figures ({predicted - drawn} {verb} no ratio to draw: "
            assert caption.startswith(start)
        assert f"{predicted} predicted" in document_answer(reproduced) or f"{predicted} predictions" in document_answer(
            reproduced
        )


def test_the_answer_says_how_wide_the_tolerances_are() -> None:
    tolerances = [Tolerance("10 %", relative=0.1), Tolerance("factor 4", factor=4.0), Tolerance("5 %", relative=0.05)]
    assert tolerances_in_words(tolerances) == "tolerances up to a factor of 4"
    assert tolerances_in_words(tolerances[:1]) == "tolerance: 10 %"
    assert tolerances_in_words([Tolerance("rounding")]) == "tolerance: rounding"
    points = [Tolerance("10 points", absolute=10.0), Tolerance("15 %", relative=0.15), Tolerance("rounding")]
    assert tolerances_in_words(points) == "tolerances up to 15 % or 10 points"
