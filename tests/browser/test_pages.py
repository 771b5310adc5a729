"""The HTML pages in Chromium: accessible, complete on a phone, on paper and without scripts, fetching nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.accessibility import serious
from support.pages import PAGES, written_pages
from support.watched import NEEDS_CHROMIUM, PAGE_PATIENCE_S, PHONE, WIDE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = NEEDS_CHROMIUM

DRAWN = """() => [...document.querySelectorAll('.chart')]
    .every(chart => !chart.ariaBusy && (chart.querySelector('svg') || !chart.clientWidth))"""
"""All charts are drawn, and none is about to be drawn again."""

SEEN_BY_THE_PAGE = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""The page has met a change of its size or colours: it hears of them before it draws its next frame."""

HIDDEN = (
    """() => [...document.querySelectorAll('.scroll, .chart, dl')].filter(shown => !shown.checkVisibility()).length"""
)

CUT_WORDS = """() => [...document.querySelectorAll('.chart svg')].flatMap(svg => {
  const chart = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const word = text.getBoundingClientRect();
    return word.width && (word.left < chart.left - 2 || word.right > chart.right + 2);
  }).map(text => text.textContent);
})"""

CUT_FIRST_CELLS = """() => [...document.querySelectorAll('tbody th')]
  .filter(cell => cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.textContent)"""

BROKEN_FIRST_HEADINGS = """() => [...document.querySelectorAll('thead th:first-child')].filter(heading => {
  const words = document.createRange();
  words.selectNodeContents(heading);
  const lines = new Set([...words.getClientRects()].map(box => Math.round(box.bottom)));
  const parts = heading.textContent.trim().split(/\\s+/);
  return lines.size > parts.length && parts.every(part => part.length <= 12);
}).map(heading => heading.textContent)"""
"""First headings with more lines than words. The long name of a setting may be broken."""

PARTED_UNITS = """() => [...document.querySelectorAll('th, td small')].filter(heading => {
  const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const found = /\\d+\\s(?:%|s|ms)/.exec(text.data);
    if (!found) continue;
    const figure = document.createRange();
    figure.setStart(text, found.index);
    figure.setEnd(text, found.index + found[0].length);
    if (new Set([...figure.getClientRects()].map(box => Math.round(box.top))).size > 1) return true;
  }
  return false;
}).map(heading => heading.textContent)"""
"""Headings and intervals in which the first figure with a unit stands on another line than the unit."""

ROWS_OF_CHARTS = """() => [...document.querySelectorAll('.pair')].map(pair => {
  const figures = [...pair.querySelectorAll(':scope > figure')];
  const tops = figures.map(figure => Math.round(figure.getBoundingClientRect().top));
  return [...new Set(tops)].map(top => tops.filter(other => other === top).length);
})"""
"""The numbers of charts in each row, for each section with charts."""

HEADINGS = "summary > h2, #words"
IN_A_CHAPTER = ".chapter ~ section:not(.chapter, .words-list) *"
"""Headings below that of a chapter, which the contents leave out."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written_pages(tmp_path_factory.mktemp("pages"))


@contextmanager
def opened(browser: Browser, path: Path, size: tuple[int, int] = WIDE, **options: Any) -> Iterator[Page]:
    """A page of a file. Whatever it asks for, and each mistake of its scripts, fails the test."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.set_default_timeout(PAGE_PATIENCE_S * 1000)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(f"{error}"))
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("request", lambda asked: wrong.append(asked.url) if asked.url != path.as_uri() else None)
    page.goto(path.as_uri())
    if options.get("java_script_enabled", True):
        settle(page)
    yield page
    context.close()
    assert wrong == []


def settle(page: Page) -> None:
    """Waits until all charts are drawn. Playwright's own waiting makes code of strings, which the page forbids."""
    deadline = time.monotonic() + PAGE_PATIENCE_S
    while time.monotonic() < deadline:
        if page.evaluate(DRAWN):
            return
        page.wait_for_timeout(50)
    pytest.fail("a chart is not drawn")


@pytest.fixture(scope="module", params=PAGES)
def shown(request: pytest.FixtureRequest, browser: Browser, pages: dict[str, Path]) -> Iterator[Page]:
    """Each page, opened once for all tests that change only its size and its colours."""
    with opened(browser, pages[request.param]) as page:
        yield page


@pytest.fixture(scope="module")
def report(browser: Browser, pages: dict[str, Path]) -> Iterator[Page]:
    """The report on a wide screen, opened once for tests each of which changes something else on it."""
    with opened(browser, pages["report"]) as page:
        yield page


@pytest.fixture(scope="module")
def report_on_phone(browser: Browser, pages: dict[str, Path]) -> Iterator[Page]:
    """The report on a phone, opened once for tests that leave it as it was."""
    with opened(browser, pages["report"], PHONE) as page:
        yield page


def looked_at(page: Page, size: tuple[int, int] = WIDE, scheme: Any = "light") -> None:
    """Gives the page its size and its colours, in which its charts are drawn again."""
    page.emulate_media(color_scheme=scheme, media="screen")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate(SEEN_BY_THE_PAGE)
    settle(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_a_page(shown: Page, scheme: Any) -> None:
    looked_at(shown, scheme=scheme)
    assert serious(shown, only_colours=scheme == "dark") == []


def test_on_a_phone_only_tables_scroll_sideways(shown: Page) -> None:
    looked_at(shown, PHONE)
    assert shown.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE[0]
    assert serious(shown) == []


def test_no_word_of_a_tables_first_heading_is_broken_on_a_phone(shown: Page) -> None:
    looked_at(shown, PHONE)
    assert shown.evaluate(BROKEN_FIRST_HEADINGS) == []


def test_no_figure_of_a_heading_or_an_interval_is_parted_from_its_unit_on_a_phone(shown: Page) -> None:
    looked_at(shown, PHONE)
    assert shown.evaluate(PARTED_UNITS) == []


def test_no_first_cell_of_a_row_is_cut(shown: Page) -> None:
    for size in (PHONE, WIDE):
        looked_at(shown, size)
        assert shown.evaluate(CUT_FIRST_CELLS) == []


@pytest.mark.parametrize("name", ["compare", "capacity", "fit"])
def test_a_column_that_stays_on_a_phone_shades_what_goes_on_below_it(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    with opened(browser, pages[name], PHONE) as page:
        shades = page.eval_on_selector_all("td.kept", "cells => cells.map(cell => getComputedStyle(cell).boxShadow)")
        assert shades
        assert "none" not in shades


def test_no_word_of_a_chart_is_cut_on_a_phone(report_on_phone: Page) -> None:
    assert report_on_phone.get_by_text("idle: waiting for a page").count()
    assert report_on_phone.evaluate(CUT_WORDS) == []


def test_no_word_of_a_chart_is_cut_when_a_page_is_made_narrow(shown: Page) -> None:
    for size in (WIDE, PHONE):
        looked_at(shown, size)
        assert shown.evaluate(CUT_WORDS) == []


def test_a_table_that_is_cut_shows_a_shade_where_it_goes_on(report_on_phone: Page) -> None:
    page = report_on_phone
    table = page.locator(".scroll:has(table)").first
    table.scroll_into_view_if_needed()
    shaded = [edge_of(page, table, left) for left in ("0", "table.scrollWidth")]
    style = page.add_style_tag(content=".scroll { background: none !important; }")
    plain = [edge_of(page, table, left) for left in ("0", "table.scrollWidth")]
    style.evaluate("tag => tag.remove()")
    table.evaluate("table => { table.scrollLeft = 0; }")
    assert shaded[0] != plain[0]
    assert shaded[1] == plain[1]


def edge_of(page: Page, table: Locator, left: str) -> bytes:
    """The picture of the last pixels of a table's place, when the table is scrolled to `left`."""
    table.evaluate(f"table => {{ table.scrollLeft = {left}; table.blur(); }}")
    box = table.bounding_box()
    assert box is not None
    clip = {"x": box["x"] + box["width"] - 4, "y": box["y"] + box["height"] - 8, "width": 4, "height": 1}
    return page.screenshot(clip=clip)


def test_the_p90_is_on_the_screen_of_a_phone(report_on_phone: Page) -> None:
    table = report_on_phone.locator("section:has(#response-time) table")
    heads = table.locator("thead th")
    texts = heads.all_inner_texts()
    p90 = next(at for at, text in enumerate(texts) if text.startswith("p90"))
    for cell in (heads.nth(p90), table.locator("tbody tr").last.locator("td").nth(p90 - 1)):
        box = cell.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE[0]


def test_what_a_capacity_is_judged_by_is_on_the_screen_of_a_phone(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["capacity"], PHONE) as page:
        table = page.locator("section:has(#simulated-by-users) table")
        judged = table.locator("tbody tr").first.locator("td").first
        verdict = table.locator("tbody tr").first.locator("td.kept")
        figure, kept = judged.bounding_box(), verdict.bounding_box()
        assert figure is not None
        assert kept is not None
        assert "s" in judged.inner_text()
        assert figure["x"] >= 0
        assert figure["x"] + figure["width"] <= kept["x"]


def test_each_line_of_the_contents_leads_to_a_heading(shown: Page) -> None:
    links = shown.locator(".contents a")
    targets = [links.nth(at).get_attribute("href") or "" for at in range(links.count())]
    headings, listed = (
        shown.evaluate(f"() => [...document.querySelectorAll({selector!r})].map(heading => '#' + heading.id)")
        for selector in (HEADINGS, f":is({HEADINGS}):not({IN_A_CHAPTER})")
    )
    assert targets == (listed if len(listed) > 3 else [])
    assert len(set(headings)) == len(headings)


def test_a_link_opens_the_section_that_it_leads_to(report: Page) -> None:
    section = report.locator("details:has(#own-time)")
    assert section.get_attribute("open") is None
    report.locator(".contents a[href='#own-time']").click()
    report.locator("details[open]:has(#own-time)").wait_for()
    assert section.get_attribute("open") is not None


@pytest.mark.parametrize("width", [1100, 1600])
def test_of_four_charts_none_stands_alone(browser: Browser, pages: dict[str, Path], width: int) -> None:
    with opened(browser, pages["capacity"], (width, 1000)) as page:
        rows = page.evaluate(ROWS_OF_CHARTS)
        assert [2, 2] in rows
        assert all(row[-1] == max(row) for row in rows if sum(row) == 4)


@pytest.mark.parametrize("beyond_px", [6, 12, 100])
def test_a_table_that_is_cut_by_a_few_pixels_has_a_shade_too(
    browser: Browser, pages: dict[str, Path], beyond_px: int
) -> None:
    with opened(browser, pages["report"], PHONE) as page:
        table = page.locator(".scroll:has(table)").first
        table.scroll_into_view_if_needed()
        table.evaluate(
            "(place, beyond) => { place.style.width = `${place.querySelector('table').offsetWidth - beyond}px`; }",
            beyond_px,
        )
        shaded = edge_of(page, table, "0")
        page.add_style_tag(content=".scroll { background: none !important; }")
        assert shaded != edge_of(page, table, "0")


def test_a_long_word_of_a_finding_is_broken_on_a_phone(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["verify"], PHONE) as page:
        table = page.locator(".scroll:has(td:text-matches('^[0-9a-f]{64}$'))").first
        assert table.evaluate("place => place.scrollWidth <= place.clientWidth")


def test_each_chart_stands_beside_its_table(report: Page) -> None:
    for table, chart in (("response-time", "response"), ("processors-time", "time"), ("faults", "faults")):
        assert report.locator(f"section:has(#{table}) #chart-{chart}").count() == 1


def test_a_share_under_the_pointer_is_written_as_in_the_texts(report: Page) -> None:
    report.locator("#chart-time svg .mark-rect path").first.hover(force=True)
    tooltip = report.locator("#vg-tooltip-element")
    tooltip.wait_for()
    assert re.search(r"share\s+\d[\d.]* %", tooltip.inner_text())


BESIDE = {
    "compare": {"response-time": "changes-response", "processor-time": "changes-cpu"},
    "capacity": {"simulated-by-users": "capacity-response"},
    "cost": {"by-number-of-users-tariff-default": "cost-0"},
    "transfer": {"what-the-processor-time-costs": "transfer-methods"},
    "transfers": {"all-transfers": "transfer-cost"},
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_chart_of_a_comparison_a_capacity_costs_and_transfers_stands_beside_its_table(
    pages: dict[str, Path], name: str
) -> None:
    sections = pages[name].read_text().split("<section")
    for table, chart in BESIDE[name].items():
        assert any(f'id="{table}"' in section and f'id="chart-{chart}"' in section for section in sections)


def test_on_paper_everything_is_open(shown: Page) -> None:
    shown.emulate_media(media="print")
    assert shown.evaluate(HIDDEN) == 0
    assert not shown.locator(".contents").is_visible()


@pytest.mark.parametrize("name", PAGES)
def test_on_paper_everything_is_open_without_scripts_too(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], java_script_enabled=False) as page:
        page.emulate_media(media="print")
        assert page.evaluate(HIDDEN) == 0


def test_without_scripts_the_tables_are_there_and_a_sentence_stands_for_each_chart(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with opened(browser, pages["report"], java_script_enabled=False) as page:
        charts = page.locator(".chart")
        assert charts.count() > 5
        assert all("The tables are complete without it." in text for text in charts.all_inner_texts())
        assert page.locator("section:has(#response-time) table").is_visible()
        page.locator("summary:has(#own-time)").click()
        assert page.locator("section:has(#own-time) table").is_visible()
