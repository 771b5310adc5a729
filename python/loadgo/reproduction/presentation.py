"""A reproduction in every format: its document and page with JSON and charts, and its figures as a frame."""

from __future__ import annotations

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.reproduction import words
from loadgo.reproduction.as_data import CSV_COLUMNS, figure_entries, json_reproduction
from loadgo.reproduction.as_html import html_reproduction
from loadgo.reproduction.document import reproduction_document
from loadgo.reproduction.own_document import own_document
from loadgo.reproduction.reproduce import Reproduction


def presentation(reproduction: Reproduction) -> Presentation:
    """The parts of a reproduction."""
    is_own = reproduction.is_own
    return Presentation(
        lambda: own_document(reproduction) if is_own else reproduction_document(reproduction),
        lambda: json_reproduction(reproduction),
        {"figures": lambda: frame_of(figure_entries(reproduction), " ".join(CSV_COLUMNS))},
        answer=lambda: words.answer(reproduction),
        page=None if is_own else lambda: html_reproduction(reproduction),
    )
