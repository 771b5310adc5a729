"""The HTML pages in Chromium: accessible, complete on a phone, on paper and without scripts, fetching nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from support.pages import PAGES, written_pages
from support.watched import NEEDS_CHROMIUM, PHONE, WIDE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = NEEDS_CHROMIUM

DRAWN = (
    "() => [...document.querySelectorAll('.chart')].every(chart => chart.querySelector('svg') || !chart.clientWidth)"
)
HIDDEN = (
    """() => [...document.querySelectorAll('.scroll, .chart, dl')].filter(shown => !shown.checkVisibility()).length"""
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written_pages(tmp_path_factory.mktemp("pages"))


@contextmanager
def opened(browser: Browser, path: Path, size: tuple[int, int] = WIDE, **options: Any) -> Iterator[Page]:
    """A page of a file. Whatever it asks for, and each mistake of its scripts, fails the test."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
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
    for _ in range(600):
        if page.evaluate(DRAWN):
            return
        page.wait_for_timeout(50)
    pytest.fail("a chart is not drawn")


def serious(page: Page) -> list[str]:
    """Rules of axe-core that the page breaks seriously or critically, with the first place of each."""
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in found if rule["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious_on_a_page(browser: Browser, pages: dict[str, Path], name: str, scheme: Any) -> None:
    with opened(browser, pages[name], color_scheme=scheme) as page:
        assert serious(page) == []


@pytest.mark.parametrize("name", PAGES)
def test_on_a_phone_only_tables_scroll_sideways(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name], PHONE) as page:
        assert page.evaluate("() => document.scrollingElement.scrollWidth") <= PHONE[0]
        assert serious(page) == []


def test_the_p90_is_on_the_screen_of_a_phone(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["report"], PHONE) as page:
        table = page.locator("section:has(#response-time) table")
        heads = table.locator("thead th")
        texts = heads.all_inner_texts()
        p90 = next(at for at, text in enumerate(texts) if text.startswith("p90"))
        for cell in (heads.nth(p90), table.locator("tbody tr").last.locator("td").nth(p90 - 1)):
            box = cell.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE[0]


@pytest.mark.parametrize("name", PAGES)
def test_each_line_of_the_contents_leads_to_a_heading(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with opened(browser, pages[name]) as page:
        links = page.locator(".contents a")
        targets = [links.nth(at).get_attribute("href") or "" for at in range(links.count())]
        headings = page.evaluate(
            "() => [...document.querySelectorAll('summary > h2, #words')].map(heading => '#' + heading.id)"
        )
        assert targets == (headings if len(headings) > 3 else [])
        assert len(set(headings)) == len(headings)


def test_a_link_opens_the_section_that_it_leads_to(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["report"]) as page:
        section = page.locator("details:has(#own-time)")
        assert section.get_attribute("open") is None
        page.locator(".contents a[href='#own-time']").click()
        page.wait_for_timeout(100)
        assert section.get_attribute("open") is not None


def test_each_chart_stands_beside_its_table(browser: Browser, pages: dict[str, Path]) -> None:
    with opened(browser, pages["report"]) as page:
        for table, chart in (("response-time", "response"), ("processors-time", "time"), ("faults", "faults")):
            assert page.locator(f"section:has(#{table}) #chart-{chart}").count() == 1


@pytest.mark.parametrize("name", PAGES)
def test_on_paper_everything_is_open(browser: Browser, pages: dict[str, Path], name: str) -> None:
    for scripts in (True, False):
        with opened(browser, pages[name], java_script_enabled=scripts) as page:
            page.emulate_media(media="print")
            assert page.evaluate(HIDDEN) == 0
            assert not page.locator(".contents").is_visible()


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
