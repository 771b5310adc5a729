"""The serious findings of axe-core on a page, for tests in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1100, "light"), (1100, "dark"), (390, "light"))
"""Widths and colours in which a page is tested."""


COLOUR_RULES = {"runOnly": {"type": "tag", "values": ["cat.color"]}}
"""Those rules of axe-core that look at colours: contrast, and links that are known by their colour alone."""


def serious(page: Page, *, only_colours: bool = False) -> list[str]:
    """Rules of axe-core that the page breaks seriously or critically, with the first place of each.

    With `only_colours` the rules are those about colours: enough for a page that was judged in other colours before.
    """
    options = {"resultTypes": ["violations"]} | (COLOUR_RULES if only_colours else {})
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html'][:200]}" for rule in found if rule["impact"] in ("serious", "critical")
    ]
