"""Tables for a page of a certain width, each with a sentence on the columns that it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loadgo.documents.absent_words import with_absent_explained
from loadgo.documents.document import Section
from loadgo.documents.table import Table

MOST_ASKED_CHARS = 160
"""The widest text that a remedy asks for. Some commands write no wider one, and few terminals have room for it."""


def with_fitted_tables(sections: Sequence[Section], width: int, *, has_columns: bool) -> list[Section]:
    """The sections with tables for `width` characters. The first table that is cut says where all columns are.

    `has_columns`: whether the environment's `COLUMNS` sets the width, as it does for a terminal.
    """
    whole = [section for section in sections if isinstance(section, Table) and not section.as_printed]
    asked = max((table.width for table in whole if table.fitting(width).left_out), default=0)
    wider = f"`COLUMNS={asked}` or " if has_columns and asked <= MOST_ASKED_CHARS else ""
    remedy = f"{wider}`--format html` shows all columns."
    shown: list[Section] = []
    for section in sections:
        if isinstance(section, Table) and not section.as_printed:
            section = with_absent_explained(section.fitting(width))
            if section.left_out:
                sentence = f"Not shown in {width} characters: {', '.join(section.left_out)}."
                section = replace(section, foot="\n".join(filter(None, (section.foot, f"{sentence} {remedy}".strip()))))
                remedy = ""
        shown.append(section)
    return shown
