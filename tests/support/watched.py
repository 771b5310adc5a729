"""The watch page from outside: its server asked over plain HTTP, and Chromium that looks at it, by Playwright."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from loadgo.watching.window import USER_STATES

from support.outside import COMMAND, PATIENCE_S, environment

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium")
NEEDS_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None, reason="needs a browser: Debian's chromium, which scripts/setup dev installs as root"
)
PAGE_PATIENCE_S = 300
"""For what a page does by itself, however busy the machine is."""
STATES_AT_THE_END = [*USER_STATES[:-1], "not known"]
"""The names of a user's states after the end of a run, when nothing becomes known any more."""
WIDE, PHONE = (1280, 900), (390, 844)


@dataclass(frozen=True)
class Served:
    """A page that is served."""

    address: str
    """Host, port and token, with a slash at the end."""
    process: subprocess.Popen[str]

    @property
    def url(self) -> str:
        """The page's."""
        return f"http://{self.address}"


@contextmanager
def served(*arguments: str, command: str = "watch", **more: str) -> Iterator[Served]:
    """`loadgo watch ARGUMENTS`, or another command with a page, until the block is over."""
    process = subprocess.Popen(
        [*COMMAND, command, *arguments], env=environment(**more), stderr=subprocess.PIPE, text=True
    )
    try:
        yield Served(address_in(process), process)
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def address_in(process: subprocess.Popen[str]) -> str:
    """Where the page is, from what the process says; it must say it."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if "http://" in line:
            return line.split("http://")[1].split()[0]
    pytest.fail(f"no page was served: {''.join(said)}")


def asked(address: str, path: str = "", **headers: str) -> tuple[int, bytes, dict[str, str]]:
    """Requests a path from the server, and returns status, body and headers."""
    request = urllib.request.Request(f"http://{address}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read(), {k.lower(): v for k, v in answer.headers.items()}
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read(), {}


def heads(stream: bytes) -> list[dict[str, Any]]:
    """The heads of the messages in a feed; those of tables have their columns too."""
    messages, offset = [], 0
    while offset < len(stream):
        head, columns = np.frombuffer(stream, "<u4", 2, offset)
        message = json.loads(stream[offset + 8 : offset + 8 + head])
        at = offset + 8 + int(head)
        for name, kind in message.get("columns", ()):
            message[name] = np.frombuffer(stream, f"<{kind}", message["rows"], at)
            at += -(-message[name].nbytes // 8) * 8
        offset += 8 + int(head) + int(columns)
        assert at in (offset, offset - int(columns)), "the columns are as long as the message says"
        messages.append(message)
    return messages


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser that asks nobody for anything by itself."""
    from playwright.sync_api import sync_playwright

    os.environ["PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD"] = "1"
    alone = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=alone)
        yield browser
        browser.close()


@dataclass
class Sight:
    """A page that is looked at, and what went wrong on it."""

    page: Page
    wrong: list[str] = field(default_factory=list)
    """Errors and warnings of its console, requests that failed, and requests to anywhere else."""

    def tell(self, script: str, argument: object = None) -> Any:
        """The result of a script on the page."""
        return self.page.evaluate(script, argument)

    def text(self, name: str) -> str:
        """The text of an element."""
        return self.page.inner_text(f"#{name}").strip()

    def table(self, name: str) -> list[list[str]]:
        """The cells of a table's body."""
        return self.tell(_CELLS, name)  # type: ignore[no-any-return]

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """After the block, the page has drawn what was done in it, with all figures."""
        before = self.tell("loadgo.measured.frames")
        yield
        self.wait(f"loadgo.measured.frames > {before} && globalThis.settledAt === loadgo.measured.frames")

    def wait(self, condition: str) -> None:
        """Until the condition is true on the page; fails where it does not become so."""
        assert self.tell(_WAIT.replace("CONDITION", condition), PAGE_PATIENCE_S * 1000), condition

    def window(self, end_ns: float | None = None, width_ns: float | None = None) -> dict[str, float]:
        """The window that is seen; set to this one before where one is given."""
        if end_ns is not None:
            with self.at_rest():
                self.tell(_SET, [end_ns, width_ns])
        return self.tell("loadgo.windowNow()")  # type: ignore[no-any-return]


# Playwright's own waiting makes code of strings, which the page forbids.
_WAIT = """patience => new Promise(done => {
    const until = performance.now() + patience;
    const look = () => (CONDITION) ? done(true) : performance.now() > until ? done(false) : setTimeout(look, 20);
    look();
})"""
_CELLS = """name => [...document.querySelectorAll(`#${name} tbody tr`)]
    .map(row => [...row.cells].map(cell => cell.textContent))"""
_SET = """([end, width]) => {
    Object.assign(loadgo.view, { end, width, playing: null });
    dispatchEvent(new Event("resize"));
}"""
# A picture is settled when its figures were told after the last frame; the page counts both.
_NOTED = """() => new MutationObserver(() => { globalThis.settledAt = loadgo.measured.frames; })
    .observe(document.body, { attributes: true, attributeFilter: ["data-drawn"] })"""


@contextmanager
def looked_at(
    browser: Browser,
    served: Served,
    size: tuple[int, int] = WIDE,
    *,
    scheme: Any = "light",
    forced: Any = "none",
    ended: bool = True,
) -> Iterator[Sight]:
    """The page in a window of that size, as soon as it shows something; all of the run, where that has `ended`.

    Colours that are `forced` are those of the system.
    """
    width, height = size
    viewport: Any = {"width": width, "height": height}
    context = browser.new_context(viewport=viewport, color_scheme=scheme, forced_colors=forced)
    context.set_default_timeout(PAGE_PATIENCE_S * 1000)
    sight = Sight(context.new_page())
    _noted(sight, served.url)
    sight.page.goto(served.url)
    sight.wait("globalThis.loadgo !== undefined")
    sight.tell(_NOTED)
    if ended:
        sight.wait("loadgo.store.ended")
    with sight.at_rest():
        sight.tell("dispatchEvent(new Event('resize'))")
    yield sight
    context.close()


def _noted(sight: Sight, home: str) -> None:
    page = sight.page
    page.on("console", lambda said: sight.wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: sight.wrong.append(f"{error}"))
    page.on("requestfailed", lambda request: _failed(sight, request.url, request.failure))
    page.on("request", lambda request: _at_home(sight, request.url, home))


def _failed(sight: Sight, url: str, why: str | None) -> None:
    # Chromium calls a stream that a page has read to its end aborted, now and then: what came of it is looked at.
    if "/feed?" not in url or why != "net::ERR_ABORTED":
        sight.wrong.append(f"{url}: {why}")


def _at_home(sight: Sight, url: str, home: str) -> None:
    if not url.startswith((home, "data:")):
        sight.wrong.append(f"a request to {url}")


def picture(sight: Sight, path: Path) -> None:
    """All of the page as a PNG."""
    sight.page.screenshot(path=path, full_page=True)


SHORT = """
name = "short"
login = "sh"
think = "exponential(80ms)"
passes = 9999
lines = ["true", "head -c 300000 /dev/zero | wc -c", "ls /etc | sort | tail -n 3"]
"""
"""A script for users of this host who type often."""


def host_run(folder: Path, seconds: int = 4) -> Path:
    """A run of three users of this host for so long, with the kernel's meters where they are allowed."""
    folder.mkdir()
    (folder / "short.toml").write_text(SHORT)
    meters = ["--meters", "exact"] if os.geteuid() == 0 else []
    command = [*COMMAND, "run", "short.toml", "--users", "3", "--until", f"time={seconds}s", "--quiet", "--out", "run"]
    result = subprocess.run([*command, *meters], cwd=folder, env=environment(), capture_output=True, text=True)
    assert result.returncode in (0, 1), result.stderr
    return folder / "run"
