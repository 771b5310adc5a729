"""A document as one HTML file that loads no other file: it has tables, charts, and the code that draws them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from types import CodeType
from typing import TYPE_CHECKING

from jinja2 import BytecodeCache, Environment, FunctionLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from loadgo.documents.document import Document
from loadgo.documents.drawing_code import drawing_code
from loadgo.documents.explained_words import ExplainedWords
from loadgo.documents.page_sections import NOTES_ID, NOTES_TITLE, contents, page_sections
from loadgo.documents.prose import prose, verbatim
from loadgo.notation.figures import plain

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


def html_document(
    document: Document,
    page: str = '{% extends "page.html" %}',
    style: str = "",
    *,
    code: Sequence[str] = (),
    **shown: object,
) -> str:
    """The full report as an HTML page. Texts are escaped, and a content security policy allows only our scripts.

    `page` is a template that extends `page.html`, with its own style, code and `shown` values.
    """
    document = document.full()
    sections = page_sections(document)
    return html_page(
        page,
        [chart for section in sections for chart in section.charts],
        style,
        code=code,
        title=document.title,
        document=document,
        sections=sections,
        contents=contents(document, sections),
        notes_id=NOTES_ID,
        notes_title=NOTES_TITLE,
        **shown,
    )


def html_page(
    page: str, page_charts: Sequence[Chart], style: str = "", *, code: Sequence[str] = (), **shown: object
) -> str:
    """Renders the template `page`, which extends `layout.html`, with the common style and the code for charts.

    `code` has further scripts of this page, which may not compile text.
    """
    environment = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        bytecode_cache=_COMPILED,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = ExplainedWords()
    environment.filters |= {
        "plain": plain,
        "prose": prose,
        "verbatim": verbatim,
        "heading": words.heading,
        "word": words.word,
    }
    scripts = [*code, *(drawing_scripts() if page_charts else [])]
    return environment.from_string(page).render(
        style=Markup(template("page.css") + style),
        policy=policy(scripts, compiles=bool(page_charts)),
        specs=Markup(json_in_html({chart.name: chart.spec for chart in page_charts})),
        scripts=[Markup(script) for script in scripts],
        explained_words=words.listed,
        **shown,
    )


class _Compiled(BytecodeCache):
    """The compiled templates of this process. An environment belongs to one page, whose words it explains."""

    def __init__(self) -> None:
        self._codes: dict[str, CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Puts the template's code into the bucket, if it was compiled before."""
        bucket.code = self._codes.get(bucket.key + bucket.checksum)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps the code of a template that was just compiled."""
        self._codes[bucket.key + bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def policy(scripts: list[str], *, compiles: bool) -> str:
    """A content security policy under which nothing is loaded and only `scripts` run.

    With `compiles` it allows `eval`, since Vega compiles its expressions.
    """
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    evaluation = " 'unsafe-eval'" if compiles else ""
    allowed = f"script-src {hashes}{evaluation}; " if scripts else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:"


def json_in_html(value: object) -> str:
    """The value as JSON that is safe inside a script element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def drawing_scripts() -> list[str]:
    """The scripts of a page with charts: the chart library, and the code that draws charts in the page's colours."""
    return [drawing_code(), template("charts.js")]


def template(name: str, module: str = __name__) -> str:
    """The text of the file `name` in the folder `templates` beside the module called `module`."""
    package = module.rpartition(".")[0]
    return resources.files(package).joinpath("templates", name).read_text(encoding="utf-8")
