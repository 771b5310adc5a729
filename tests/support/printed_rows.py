"""Sentences of a printed document and rows of its tables, read back from HTML and Markdown."""

import html
import re


def html_rows(page: str) -> list[list[str]]:
    """The cells of each row of all tables in a page, headings included."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page, re.DOTALL)
    return [[cell_text(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)] for row in rows]


def without_spans(page: str) -> str:
    """A page without the marks that keep a figure and its unit on one line, so that a sentence can be found in it."""
    return re.sub(r"</?span[^>]*>", "", page)


def cell_text(markup: str) -> str:
    """The text of an HTML cell, with its figures as a text has them."""
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).replace("\N{NO-BREAK SPACE}", " ")


def markdown_rows(text: str) -> list[list[str]]:
    """The cells of each row of all tables in a Markdown text, headings included."""
    rows = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    shown = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    return [[re.sub(r"\\(.)", r"\1", html.unescape(cell)).strip() for cell in row] for row in shown]
