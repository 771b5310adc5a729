"""A reproduction as one HTML file that needs no network: every table in its layout with ours in it, and charts."""

from __future__ import annotations

from loadgo.documents.as_html import html_document, template
from loadgo.reproduction.document import reproduction_page
from loadgo.reproduction.reproduce import Reproduction


def html_reproduction(reproduction: Reproduction) -> str:
    """The complete page."""
    return html_document(reproduction_page(reproduction), style=template("reproduce.css", __name__))
