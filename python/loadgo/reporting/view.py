"""The choices of a reader for a report: the vocabulary, a breakdown of the meters, and the length of tables."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.errors import BadArgument
from loadgo.measures.meters import BREAKDOWN_COLUMNS, BreakdownColumn
from loadgo.measures.vocabulary import VOCABULARY_NAMES, VocabularyName


@dataclass(frozen=True)
class View:
    """The choices of one report."""

    vocabulary: VocabularyName = "today"
    by: BreakdownColumn | None = None
    """Whether system calls and faults are also shown by command or by user."""
    top: int | None = None
    """The largest number of rows of a table. With None, each table has its own limit."""

    def rows(self, default: int) -> int:
        """The largest number of rows of a table whose own limit is `default`."""
        return default if self.top is None else self.top


def check_view(view: View) -> None:
    """Raises `ValueError` for a choice that does not exist."""
    if view.vocabulary not in VOCABULARY_NAMES:
        raise BadArgument(f"vocabulary {view.vocabulary!r} is none of {', '.join(VOCABULARY_NAMES)}")
    if view.by is not None and view.by not in BREAKDOWN_COLUMNS:
        raise BadArgument(f"by {view.by!r} is none of {', '.join(BREAKDOWN_COLUMNS)}")
    if view.top is not None and view.top < 1:
        raise BadArgument(f"top {view.top} is not a number of rows: 1 or more")
