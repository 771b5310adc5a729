"""The page of a profile in Chromium, from a file: the flame graph by hand, and what stands without JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from loadgo.profiling.profile import Frame, Profile, Segment, Stack
from support.watched import NEEDS_CHROMIUM, PAGE_PATIENCE_S, PHONE, WIDE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = NEEDS_CHROMIUM

HOSTILE = "</script><img src=x onerror=document.title='taken'>"
MAIN = Frame("/usr/bin/prime", "main")
PROFILE = Profile(
    of=f"prime {HOSTILE}",
    seconds=2.0,
    hz=1000,
    stacks=(
        Stack(1, "prime", "prime", (MAIN, Frame("/usr/bin/prime", "std::vector<int>::push_back(int const&)")), 600),
        Stack(2, "compile", "cc1", (MAIN, Frame("[kernel]", "do_syscall_64"), Frame("[kernel]", "copy_page")), 300),
        Stack(2, None, HOSTILE, (Frame("/lib/stripped.so", "0x1234"),), 99),
        Stack(2, None, "cc1", (MAIN, Frame("[kernel]", "rare")), 1),
    ),
    segments=(
        Segment("/usr/bin/prime", 600, 40, 2),
        Segment("[kernel]", 301, 0, 0),
        Segment("/lib/stripped.so", 99, 5, 0),
    ),
)
CALLS = "[...document.querySelectorAll('.flame-call')].map(call => call.getAttribute('aria-label'))"
CONTRASTS = """() => {
    const light = color => color.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    return [...document.querySelectorAll('.flame-call')].map(call => {
        const style = getComputedStyle(call), pair = [light(style.color), light(style.backgroundColor)];
        return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    });
}"""


@dataclass
class Opened:
    """The page, and what it asked for or complained about."""

    page: Page
    wrong: list[str] = field(default_factory=list)

    def calls(self) -> list[str]:
        """The drawn calls in words, row by row."""
        calls: list[str] = self.page.evaluate(CALLS)
        return calls

    def text(self, name: str) -> str:
        return self.page.inner_text(f"#flame-{name}").strip()

    def focused(self) -> str:
        label: str = self.page.evaluate("document.activeElement.getAttribute('aria-label')")
        return label


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    """A function that opens a profile's page from a file; at the end, nothing may have gone wrong on any page."""
    contexts, pages = [], []

    def open_page(profile: Profile = PROFILE, size: tuple[int, int] = WIDE, **context_options: Any) -> Opened:
        path = tmp_path / f"{len(pages)}.html"
        path.write_text(profile.report("html"))
        viewport: Any = {"width": size[0], "height": size[1]}
        context = browser.new_context(viewport=viewport, **context_options)
        context.set_default_timeout(PAGE_PATIENCE_S * 1000)
        contexts.append(context)
        shown = Opened(context.new_page())
        pages.append(shown)
        page = shown.page
        page.on("console", lambda said: shown.wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: shown.wrong.append(str(error)))
        page.on("request", lambda sent: None if sent.url == path.as_uri() else shown.wrong.append(sent.url))
        page.goto(path.as_uri())
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert [page.wrong for page in pages if page.wrong] == []


def test_each_call_says_its_name_its_mapping_and_its_samples(opened: Callable[..., Opened]) -> None:
    shown = opened()
    calls = shown.calls()
    assert calls[0] == "all 1,000 samples, 100.0 %"
    assert "std::vector<int>::push_back(int const&) in /usr/bin/prime: 600 samples, 60.0 %" in calls
    assert "main in /usr/bin/prime: 301 samples, 30.1 %" in calls
    assert f"{HOSTILE} 99 samples, 9.9 %" in calls
    assert len(calls) == 1 + 3 + 3 + 2 + 1  # all, processes, and the functions of three rows but one
    assert "1 narrower than a pixel or two" in shown.text("narrow")


def test_a_click_zooms_in_and_show_all_zooms_out(opened: Callable[..., Opened]) -> None:
    shown = opened()
    before = shown.calls()
    shown.page.locator(".flame-call", has_text="do_syscall_64").click()
    zoomed = shown.calls()
    assert [call.split()[0] for call in zoomed] == ["all", "cc1", "main", "do_syscall_64", "copy_page"]
    widths = shown.page.evaluate("[...document.querySelectorAll('.flame-call')].map(call => call.style.width)")
    assert widths == ["100%"] * 5
    assert "do_syscall_64" in shown.text("details")
    shown.page.click("#flame-all")
    assert shown.calls() == before


def test_the_search_marks_and_sums_and_enter_goes_to_the_next(opened: Callable[..., Opened]) -> None:
    shown = opened()
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("MAIN")
    assert shown.text("found") == "found in 901 samples, 90.1 %"
    marked = shown.page.locator(".flame-match")
    assert marked.all_inner_texts() == ["main", "main"]
    shown.page.keyboard.press("Enter")
    assert shown.calls()[-1].startswith("std::vector")
    shown.page.keyboard.press("Enter")
    assert "copy_page" in " ".join(shown.calls())
    shown.page.keyboard.press("Escape")
    assert shown.text("found") == ""


def test_calls_are_grouped_by_mapping_and_by_user(opened: Callable[..., Opened]) -> None:
    shown = opened()
    shown.page.get_by_label("mapping", exact=True).check()
    assert [call for call in shown.calls() if call.startswith("[kernel]")] == ["[kernel] 301 samples, 30.1 %"]
    shown.page.get_by_label("user", exact=True).check()
    rows = shown.calls()
    assert rows[1:3] == ["user 1 600 samples, 60.0 %", "user 2 400 samples, 40.0 %"]
    shown.page.locator("#flame-legend button", has_text="[kernel]").click()
    assert shown.text("found") == "301 samples, 30.1 % in this mapping itself"


def test_enter_in_the_search_goes_to_calls_of_the_grouping_that_is_shown(opened: Callable[..., Opened]) -> None:
    shown = opened()
    shown.page.locator("#flame-legend button", has_text="[kernel]").click()
    shown.page.get_by_label("user", exact=True).check()
    shown.page.focus("#flame-search")
    shown.page.keyboard.press("Enter")
    assert any(call.startswith("user ") for call in shown.calls())


def test_the_graph_is_used_by_keyboard_alone(opened: Callable[..., Opened]) -> None:
    shown = opened()
    shown.page.locator("#flame-legend button").last.focus()
    shown.page.keyboard.press("Tab")
    assert shown.focused().startswith("all ")
    for key, name in (
        ("ArrowDown", "prime"),
        ("ArrowRight", "cc1"),
        ("ArrowDown", "main"),
        ("ArrowDown", "do_syscall_64"),
        ("Enter", "do_syscall_64"),
        ("ArrowUp", "main"),
        ("Escape", "all"),
    ):
        shown.page.keyboard.press(key)
        assert shown.focused().startswith(f"{name} "), key
        assert shown.text("details").startswith(f"{name} ")


def test_a_name_of_markup_is_text_and_a_long_name_keeps_its_function(opened: Callable[..., Opened]) -> None:
    shown = opened(size=PHONE)
    assert shown.page.title().startswith("clock profile of prime </script>")
    assert shown.page.locator("img").count() == 0
    assert "std::vector<…>::push_back(…)" in shown.page.locator(".flame-call").all_inner_texts()
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_names_can_be_read_in_light_and_in_dark(opened: Callable[..., Opened], scheme: str) -> None:
    shown = opened(color_scheme=scheme)
    assert min(shown.page.evaluate(CONTRASTS)) > 4.5
    shown.page.fill("#flame-search", "main")
    assert min(shown.page.evaluate(CONTRASTS)) > 4.5


def test_without_javascript_the_tables_are_there(opened: Callable[..., Opened]) -> None:
    page = opened(java_script_enabled=False).page
    assert not page.locator("#flame").is_visible()
    assert "needs JavaScript" in page.inner_text("main")
    assert page.locator("td", has_text="60.0 %").first.is_visible()


def test_without_stacks_there_is_no_graph_and_without_callers_the_page_says_so(opened: Callable[..., Opened]) -> None:
    faults_only = Profile("run x", 1.0, None, (), (Segment("[heap]", None, 900, 10),))
    assert opened(faults_only).page.locator("#flame").count() == 0
    flat = Profile("x", 1.0, 1000, (Stack(None, None, "x", (MAIN,), 10),), (Segment("/usr/bin/prime", 10, None, None),))
    shown = opened(flat)
    caption = shown.page.inner_text("figcaption")
    assert "each sample has its function alone" in caption
    assert "not known by user" in caption
    assert shown.page.get_by_label("user", exact=True).count() == 0
