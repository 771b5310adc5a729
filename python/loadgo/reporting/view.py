"""The choices of a reader for a report: vocabulary, a breakdown of the meters, length of tables, short or full."""

from __future__ import annotations

from dataclasses import dataclass

from loadgo.errors import BadArgument
from loadgo.measures.meters import BREAKDOWN_COLUMNS, BreakdownColumn
from loadgo.measures.vocabulary import VOCABULARY_NAMES, VocabularyName


@dataclass(frozen=True)
class View:
    """The choices of one report. A choice that does not exist raises `BadArgument`."""

    vocabulary: VocabularyName = "today"
    by: BreakdownColumn | None = None
    """Whether system calls and faults are also shown by command or by user."""
    top: int | None = None
    """The largest number of rows of a table. With None, each table has its own limit."""
    full: bool = False
    """Whether a text has all tables and notes. The other formats always have them."""
    asked_notes: frozenset[str] = frozenset()
    """Labels of notes that the short report has because the reader gave an option about them."""

    def __post_init__(self) -> None:
        if self.vocabulary not in VOCABULARY_NAMES:
            raise BadArgument(f"vocabulary {self.vocabulary!r} is none of {', '.join(VOCABULARY_NAMES)}")
        if self.by is not None and self.by not in BREAKDOWN_COLUMNS:
            raise BadArgument(f"by {self.by!r} is none of {', '.join(BREAKDOWN_COLUMNS)}")
        if self.top is not None and self.top < 1:
            raise BadArgument(f"top {self.top} is not a number of rows: 1 or more")

    def rows(self, default: int) -> int:
        """The largest number of rows of a table whose own limit is `default`."""
        return default if self.top is None else self.top
