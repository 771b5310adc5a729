"""Parts of every HTML page: the security policy, embedded JSON, the code that draws charts, and the templates."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources

import vl_convert

_ADDRESSES = (
    "https://vega.github.io/editor/",
    "https://vega.github.io/schema/vega/v6.json",
    "https://github.com/vega/vega-lite/issues/2415",
)
"""Addresses in the drawing code that are never loaded; they are removed, so that the page holds no address."""


def policy(scripts: list[str]) -> str:
    """A content security policy: nothing may be loaded, and only `scripts` run. Vega compiles its expressions."""
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    allowed = f"script-src {hashes} 'unsafe-eval'; " if scripts else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:"


def json_in_html(value: object) -> str:
    """The value as JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def drawing_scripts() -> list[str]:
    """The scripts of a page with charts: the drawing library, and the code that draws each chart in page colours."""
    return [_drawing_code(), template("charts.js")]


@cache
def _drawing_code() -> str:
    """Vega, Vega-Lite and Vega-Embed in one script."""
    code: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    for address in _ADDRESSES:
        code = code.replace(address, "")
    assert "</script" not in code, "the drawing code would end its own script element"
    return code


def template(name: str, module: str = __name__) -> str:
    """The text of the file `name` in the folder `templates` beside the module called `module`."""
    package = module.rpartition(".")[0]
    return resources.files(package).joinpath("templates", name).read_text(encoding="utf-8")
