"""The laboratory's page in Chromium: filters, two clicks to a comparison, notes by keyboard, histories, all widths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from support.accessibility import LOOKS, serious
from support.made_laboratory import FIRST_START, made_run, made_runs, scattered
from support.watched import NEEDS_CHROMIUM, PAGE_PATIENCE_S, Served, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = NEEDS_CHROMIUM

HOSTILE = "<img src=x onerror=document.title='stolen'>"
RUNS = 24
MANY = 230
WIDTHS = (390, 1100, 1600)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A laboratory with a change for the worse, a hostile name, a broken run, and a run of another script."""
    root = tmp_path_factory.mktemp("laboratory") / "runs"
    made_runs(root, scattered([(14, 1.0), (10, 1.5)]))
    made_run(root / HOSTILE, FIRST_START - timedelta(days=2), 1.0, script=HOSTILE)
    made_run(root / "night-1", FIRST_START - timedelta(days=1), 2.0, script="night", users="5")
    (made_run(root / "broken", FIRST_START, 1.0) / "run.toml").write_text("[")
    return root


@pytest.fixture(scope="module")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(str(root), command="lab", XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache"))) as page:
        yield page


@contextmanager
def opened(browser: Browser, served: Served) -> Iterator[Page]:
    """The page when its list has all figures: before, runs have other places, and no words to filter by.

    Fails for errors of the console, and for requests to anywhere else.
    """
    wrong: list[str] = []
    context = browser.new_context(viewport={"width": 1100, "height": 900}, color_scheme="light")
    context.set_default_timeout(PAGE_PATIENCE_S * 1000)
    page = context.new_page()
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda one: None if one.url.startswith((served.url, "data:")) else wrong.append(one.url))
    page.goto(served.url)
    listed(page)
    yield page
    context.close()
    assert wrong == []


def listed(page: Page) -> None:
    """Waits until the page has the list with the figures of all runs."""
    page.locator("body[data-reading='0']").wait_for()
    page.locator("#runs tbody tr").first.wait_for()


def names(page: Page) -> list[str]:
    found = page.eval_on_selector_all("#runs tbody tr", "rows => rows.map(row => row.dataset.run)")
    return [str(name) for name in found]


def row(page: Page, name: str) -> Any:
    return page.locator(f"#runs tbody tr[data-run='{name}']")


def drawn(page: Page) -> None:
    """Waits until the first chart of a document is drawn."""
    page.locator(".chart svg").first.wait_for()


def test_all_runs_are_listed_and_names_stay_text(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        assert len(names(page)) == RUNS + 3
        assert page.inner_text("#state") == f"{RUNS + 3} runs; 1 broken, shown last"
        assert names(page)[0] == "0023"
        assert names(page)[-1] == "broken"
        assert HOSTILE in page.inner_text("#runs")
        assert page.locator("#runs img").count() == 0
        assert page.title() == "laboratory · loadgo"
        assert "cannot be read" in row(page, "broken").inner_text()
        assert row(page, "broken").locator("a, button").count() == 0


def test_axe_finds_nothing_serious_on_the_list_of_runs(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        for width, scheme in LOOKS:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            assert serious(page, only_colours=scheme == "dark") == []


def test_the_dialog_of_notes_has_no_gap_and_nothing_serious_for_axe(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        page.set_viewport_size({"width": 390, "height": 900})
        row(page, "0009").get_by_role("button", name="notes of").click()
        page.locator("#notes").wait_for()
        tags, note = (page.locator(name).bounding_box() for name in ("#tags", "#note"))
        assert tags is not None
        assert note is not None
        assert note["y"] - (tags["y"] + tags["height"]) < 60
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            assert serious(page, only_colours=scheme == "dark") == []


def test_filters_choose_runs_and_the_address_keeps_them(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        page.select_option("#script", "night")
        assert names(page) == ["night-1"]
        page.reload()
        listed(page)
        assert names(page) == ["night-1"]
        page.get_by_role("button", name="Clear").click()
        page.fill("#from", "2026-01-06")
        page.fill("#to", "2026-01-06")
        assert names(page) == ["0006", "0005", "0004", "0003"]
        page.fill("#text", "0005 day")
        assert names(page) == ["0005"]
        assert page.inner_text("#count") == f"1 of {RUNS + 3} runs"


def test_on_a_phone_the_list_comes_before_the_further_filters_unless_one_is_set(
    browser: Browser, address: Served
) -> None:
    with opened(browser, address) as page:
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator("#further:not([open])").wait_for()
        first = row(page, names(page)[0]).bounding_box()
        assert first is not None
        assert first["y"] < 844
        page.get_by_text("Further filters").click()
        page.select_option("#script", "night")
        assert names(page) == ["night-1"]
        page.reload()
        listed(page)
        assert page.locator("#script").is_visible()
        page.set_viewport_size({"width": 1100, "height": 900})
        assert page.locator("#script").is_visible()


def test_filters_in_the_address_wait_for_runs_that_are_not_read_yet(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        page.select_option("#script", "night")
        unread = page.evaluate(
            "({ ...laboratory.list, revision: '', reading: 1,"
            " runs: laboratory.list.runs.map(run => ({ ...run, script: '' })) })"
        )
        page.route("**/runs?*", lambda route: route.fulfill(json=unread))
        page.reload()
        page.locator("body[data-reading='1']").wait_for()
        assert page.input_value("#script") == ""
        page.unroute("**/runs?*")
        listed(page)
        assert page.input_value("#script") == "night"
        assert names(page) == ["night-1"]


def test_two_clicks_compare_two_runs(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        row(page, "0003").get_by_role("button", name="compare").click()
        assert "A is 0003" in page.inner_text("#chosen")
        row(page, "0020").get_by_role("button", name="compare").click()
        page.wait_for_url("**/compare?*")
        drawn(page)
        assert "A: 0003" in page.inner_text("main")
        assert "B: 0020" in page.inner_text("main")


def test_a_report_opens_with_its_charts_and_cannot_reach_the_list(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        row(page, "0007").get_by_role("link").click()
        page.wait_for_url("**/report?*")
        assert page.inner_text("main p").startswith("Laboratory: "), "the page says which run it is of"
        drawn(page)
        assert page.evaluate("self.origin") == "null"
        assert "compile" in page.inner_text("main")


def test_a_history_has_its_change_as_a_chart(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        page.fill("#figure", "p90(compile)")
        page.select_option("#by", "version")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**/history?*")
        drawn(page)
        assert "between 0013 and 0014" in page.inner_text("h1")
        assert "0012" in (page.locator(".chart svg").first.text_content() or ""), "the axis has the names of runs"
        page.go_back()
        listed(page)
        assert page.input_value("#figure") == "p90(compile)"


def test_notes_are_written_by_keyboard_alone(browser: Browser, address: Served, root: Path) -> None:
    with opened(browser, address) as page:
        row(page, "0009").get_by_role("button", name="notes of").focus()
        page.keyboard.press("Enter")
        page.locator("#tags").focus()
        page.keyboard.type("kernel 6.6, odd")
        page.keyboard.press("Tab")
        page.keyboard.type(HOSTILE)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator("#notes").wait_for(state="hidden")
        assert row(page, "0009").locator(".tag").all_inner_texts() == ["kernel 6.6", "odd"]
        assert page.locator("#runs img").count() == 0
        page.select_option("#tag", "odd")
        assert names(page) == ["0009"]
    written = json.loads((root / "0009" / "notes.json").read_text())
    assert written == {"format": 1, "tags": ["kernel 6.6", "odd"], "note": HOSTILE}


OUTSIDE = """all => all.filter(one => one.offsetParent && one.getBoundingClientRect().right > innerWidth + 1)
    .map(one => one.outerHTML)"""
"""The visible elements that reach beyond the right edge of the page."""


def test_the_page_fits_every_width_in_light_and_dark(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        for width, scheme in product(WIDTHS, SCHEMES):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, scheme
            assert page.eval_on_selector_all("button, input, select, a", OUTSIDE) == [], (width, scheme)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A laboratory with more runs than are drawn at once."""
    root = tmp_path_factory.mktemp("many") / "runs"
    made_runs(root, scattered([(MANY, 1.0)]), passes=1)
    with served(str(root), command="lab", XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache"))) as page:
        yield page


def test_only_the_rows_near_the_view_are_drawn_and_scrolling_draws_the_rest(browser: Browser, many: Served) -> None:
    with opened(browser, many) as page:
        assert page.inner_text("#count") == f"{MANY} runs"
        assert len(names(page)) == 100
        # The button may go between two steps, since further rows come by themselves: so the page is scrolled.
        page.wait_for_function(
            "count => { scrollTo(0, document.body.scrollHeight);"
            " return document.querySelectorAll('#runs tbody tr').length === count }",
            arg=MANY,
        )
        page.locator("#more").wait_for(state="hidden")
        assert names(page) == [f"{number:04}" for number in reversed(range(MANY))]


def test_filters_look_at_all_runs_and_not_at_the_drawn_ones_alone(browser: Browser, many: Served) -> None:
    with opened(browser, many) as page:
        page.fill("#text", "0001 day")
        assert names(page) == ["0001"]
        page.fill("#text", "day")
        assert len(names(page)) == 100


def test_more_rows_come_by_the_keyboard_and_the_first_new_one_has_the_focus(browser: Browser, many: Served) -> None:
    with opened(browser, many) as page:
        page.evaluate("document.querySelector('#more').focus({ preventScroll: true })")
        page.keyboard.press("Enter")
        assert len(names(page)) >= 200
        assert page.evaluate("document.activeElement.closest('tr').dataset.run") == f"{MANY - 101:04}"


def test_a_row_keeps_the_focus_when_the_list_is_drawn_again(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        row(page, "0005").get_by_role("button", name="compare").focus()
        page.evaluate("showRows(false)")
        assert page.evaluate("document.activeElement.ariaLabel") == "compare 0005"


def test_a_list_that_comes_again_draws_only_the_rows_that_changed(browser: Browser, address: Served) -> None:
    with opened(browser, address) as page:
        page.evaluate("for (const row of document.querySelectorAll('#runs tbody tr')) row.wasThere = true")
        before = names(page)
        page.evaluate(
            "const again = run => run.name === '0005' ? { ...run, p90: '7 s' } : run;"
            "laboratory.list.runs = laboratory.list.runs.map(again);"
            "laboratory.list.runs.unshift({ ...laboratory.list.runs[0], name: 'new' }); showRows(false)"
        )
        assert names(page) == ["new", *before]
        made = page.eval_on_selector_all(
            "#runs tbody tr", "rows => rows.filter(row => !row.wasThere).map(row => row.dataset.run)"
        )
        assert made == ["new", "0005"]
        assert "7 s" in row(page, "0005").inner_text()
        page.evaluate("laboratory.list.runs.shift(); showRows(false)")
        assert names(page) == before
