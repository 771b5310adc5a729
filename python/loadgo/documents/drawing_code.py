"""The code that draws the charts of a page: Vega, Vega-Lite and Vega-Embed in one script.

vl-convert makes it, always the same from one version, in three seconds of processor time. So the build makes it once
(`setup.py`, which imports this file alone), and each page reads it from a file of this package.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

DRAWING_CODE_FILE = Path("libraries", "vega.js")
"""The file beside this one that the build makes."""
LICENCES_FILE = Path("templates", "drawing-code-licences.txt")
"""The notices of what the drawing code is made of. They ask to be kept in every copy, so each page has them, too."""

_ADDRESSES = (
    "https://vega.github.io/editor/",
    "https://vega.github.io/schema/vega/v6.json",
    "https://github.com/vega/vega-lite/issues/2415",
)
"""Addresses in the drawing code that are never loaded; they are removed, so that the page holds no address."""


@cache
def drawing_code() -> str:
    """The script, from the package's file. A source tree that was never built has none: there it is made each time."""
    try:
        return (Path(__file__).parent / DRAWING_CODE_FILE).read_text(encoding="utf-8")
    except FileNotFoundError:
        return made_drawing_code()


def made_drawing_code() -> str:
    """The script, from vl-convert, below the notices of the libraries in it."""
    import vl_convert

    code: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    for address in _ADDRESSES:
        code = code.replace(address, "")
    notices = (Path(__file__).parent / LICENCES_FILE).read_text(encoding="utf-8")
    assert "*/" not in notices, "the notices would end their comment"
    assert "</script" not in notices + code, "the drawing code would end its own script element"
    return f"/*!\n{notices}*/\n{code}"
