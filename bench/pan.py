"""The watch page of a large run in headless Chromium: times to the first picture and to all rows, and panning.

Playwright drives Debian's chromium. Without a graphics card the processor draws the pictures.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
WIDTHS = {"half of it": 0.5, "a twentieth of it": 0.05, "a hundredth of it": 0.01}
"""Visible parts of the run during panning."""
PATIENCE_MS = 120_000

# Moments are counted from when the browser began to go to the page.
_NOTE = """
const noted = globalThis.noted = {};
const look = () => {
    const { loadgo } = globalThis;
    if (loadgo && loadgo.measured.frames && !noted.first) noted.first = performance.now();
    if (loadgo && loadgo.store.ended && !noted.all) noted.all = performance.now();
    if (noted.all && !noted.told && +document.body.dataset.drawn) noted.told = performance.now();
    if (!noted.told) requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
_WAIT = "() => new Promise(done => { const look = () => noted.told ? done(noted) : setTimeout(look, 50); look(); })"
_PAN = """async ([part, seconds]) => {
    const { view, store, measured } = loadgo, canvas = document.getElementById("users");
    const { left, top, width } = canvas.getBoundingClientRect();
    Object.assign(view, { end: store.reach * (part + 1) / 2, width: store.reach * part });
    dispatchEvent(new Event("resize"));
    await new Promise(then => setTimeout(then, 1000));
    canvas.setPointerCapture = () => {};
    const middle = left + width / 2, fixed = { clientY: top + 20, pointerId: 1, bubbles: true };
    const fire = (kind, x) => canvas.dispatchEvent(new PointerEvent(kind, { ...fixed, clientX: x }));
    fire("pointerdown", middle);
    const begun = performance.now(), before = measured.frames, gaps = [];
    let last = begun;
    await new Promise(done => {
        const step = now => {
            gaps.push(performance.now() - last);
            last = performance.now();
            if (last - begun > seconds * 1000) { done(); return; }
            fire("pointermove", middle + width / 4 * Math.sin((last - begun) / 400));
            requestAnimationFrame(step);
        };
        requestAnimationFrame(step);
    });
    const frames = measured.frames - before, took = (performance.now() - begun) / 1000;
    fire("pointerup", middle);
    await new Promise(then => setTimeout(then, 1000));
    return { rate: frames / took, longest: Math.max(...gaps) };
}"""


@dataclass(frozen=True)
class Seen:
    """The times and frame rates of one view of the page."""

    first_s: float
    """Time from navigation to the first picture."""
    all_s: float
    """Time from navigation until all rows are loaded."""
    frames: Mapping[str, float]
    """Frames per second during panning, by visible part."""
    longest_ms: Mapping[str, float]
    """Longest time between two frames during panning."""


@contextmanager
def browser() -> Iterator[Any]:
    """Starts a headless browser."""
    from playwright.sync_api import sync_playwright

    os.environ["PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD"] = "1"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] * (os.geteuid() == 0))
        yield chromium
        chromium.close()


@contextmanager
def page_of(run: Path) -> Iterator[str]:
    """Serves the page of a finished run, and yields its address."""
    command = [sys.executable, "-m", "loadgo", "watch", str(run)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        yield next(line for line in server.stderr if "http://" in line).split("watch it at ")[1].split()[0]
    finally:
        server.terminate()
        server.communicate()


def view_page(chromium: Any, url: str, seconds: float) -> Seen:
    """Opens the page, waits until it has all rows, and pans for `seconds` at each width."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.add_init_script(_NOTE)
    page.goto(url)
    noted = page.evaluate(_WAIT)
    panned = {name: page.evaluate(_PAN, [part, seconds]) for name, part in WIDTHS.items()}
    context.close()
    frames = {name: result["rate"] for name, result in panned.items()}
    longest = {name: result["longest"] for name, result in panned.items()}
    return Seen(noted["first"] / 1e3, noted["all"] / 1e3, frames, longest)
