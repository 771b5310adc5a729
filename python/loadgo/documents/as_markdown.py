"""A document as GitHub's Markdown, for an issue or a page."""

from __future__ import annotations

import re

from loadgo.documents.document import Chapter, Charts, Document, Points, Remarks, Section, SignPicture
from loadgo.documents.fitted_tables import with_fitted_tables
from loadgo.documents.prose import CODE_PATTERN
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import plain

_PAGE_CHARS = 120
"""Characters of a picture's line, and of a table's row before it leaves out columns."""
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@$]|:(?=//))")


_CODE = re.compile(CODE_PATTERN)


def markdown_document(document: Document) -> str:
    """The full report as Markdown. Characters with a meaning in Markdown are escaped."""
    document = document.full()
    parts = [f"> **{sentence(warning)}**" for warning in document.warnings]
    answers = (document.answer, *document.further_answers)
    parts += ["  \n".join(f"**{sentence(line)}**" for line in answers), sentence(document.trust)]
    parts.append("  \n".join(map(sentence, document.about)))
    parts += map(_section, with_fitted_tables(document.sections, _PAGE_CHARS, has_columns=False))
    parts.append("\n".join(f"- **{escaped(label)}**: {sentence(line)}" for label, line in document.all_notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """Escapes `text` so that Markdown shows it unchanged."""
    return _SPECIAL.sub(r"\\\1", plain(text))


def sentence(text: str) -> str:
    """Escapes a sentence like `escaped`, but for what stands in backticks, which stays code."""
    text = plain(text)
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [escaped(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, escaped(text[end:])])


def _section(section: Section) -> str:
    if isinstance(section, Charts):
        return ""
    if isinstance(section, Chapter):
        return f"## {escaped(section.title)}\n\n{escaped(section.source)}\n\n{escaped(section.answer)}"
    if isinstance(section, Remarks):
        return "\n\n".join(map(sentence, section.paragraphs))
    title = f"### {escaped(section.title)}" if section.title else ""
    lead = f"> {sentence(section.lead)}" if isinstance(section, Table) and section.lead else ""
    return "\n\n".join(part for part in (title, lead, _content(section)) if part)


def _content(section: Table | SignPicture | Points) -> str:
    if isinstance(section, SignPicture):
        return _picture(section)
    if isinstance(section, Points):
        shown = escaped if section.verbatim else sentence
        return "\n".join(f"- {'<br>'.join(map(shown, item))}" for item in section.items)
    table = _table(section)
    return "\n\n".join([table, *map(sentence, filter(None, section.foot.split("\n")))])


def _picture(picture: SignPicture) -> str:
    lines = "\n".join(map(plain, picture.lines(_PAGE_CHARS)))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", lines)), default=0))
    return f"{fence}text\n{lines}\n{fence}"


def _table(table: Table) -> str:
    head = " | ".join(escaped(column.heading or ("mark" if column.kind == "mark" else "")) for column in table.columns)
    rule = " | ".join(":---" if i == 0 or column.kind != "figure" else "---:" for i, column in enumerate(table.columns))
    rows = (" | ".join(_cell(column, row) for column in table.columns) for row in range(len(table.columns[0].cells)))
    return "\n".join(f"| {line} |" for line in [head, rule, *rows])


def _cell(column: Column, row: int) -> str:
    mark = f" {column.marks[row]}" if column.marks else ""
    return "<br>".join(escaped(line) for line in (f"{column.cells[row]}{mark}".strip(), *column.lines_below(row)))
