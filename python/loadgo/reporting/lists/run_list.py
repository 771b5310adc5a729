"""The recorded runs as `loadgo runs` shows them: the newest last, with their dates and their p90."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document
from loadgo.documents.as_text import FEWEST_PAGE_CHARS, text_document
from loadgo.documents.document import Document
from loadgo.documents.frames import frame_of
from loadgo.documents.listing import asked_chars
from loadgo.documents.presentation import Presentation
from loadgo.documents.table import Column, Table
from loadgo.measures.run_remarks import CELL_MEANINGS, OTHER_WORK_REMARK, remarks_note, words_note
from loadgo.notation.figures import NEVER_TEXT, NOT_MEASURED, TOO_FEW_TEXT, quantile

if TYPE_CHECKING:
    from loadgo.records.runs import RecordedRun

MOST_RUNS = 20
"""Number of runs that a document lists, unless all are asked for."""
DISTURBED_MARK = " *"
"""The mark on a p90 that other work on the host lengthened."""
RUN_KEYS = "id folder name system users started finished outcome interactions"
"""The keys of a `RecordedRun` in JSON and the columns of its frame, in order."""


def run_presentation(runs: Sequence[RecordedRun], *, full: bool = False) -> Presentation:
    """The parts of a list of runs. The document has the last `MOST_RUNS` of them, or with `full` all of them."""
    records = tuple({key: getattr(run, key) for key in RUN_KEYS.split()} | {"folder": _folder(run)} for run in runs)
    return Presentation(
        lambda: run_document(runs, full=full),
        lambda: json_document({"runs": records}, {}),
        {"runs": lambda: frame_of(records, RUN_KEYS)},
        answer=lambda: runs_answer(runs, len(runs)),
        text=lambda width, color: _text(run_document(runs, full=full), width, color=color),
    )


def _folder(run: RecordedRun) -> str:
    """The run's folder as every format can hold it, also if its name is not UTF-8."""
    from loadgo.records.run_file import utf8_text

    return utf8_text(str(run.folder))


def run_document(runs: Sequence[RecordedRun], *, full: bool = False) -> Document:
    """The document: a sentence, and a row for each run that is shown."""
    shown = runs if full else runs[-MOST_RUNS:]
    figures = [_p90_and_remarks(run) for run in shown]
    disturbed = [_is_disturbed(*figure) for figure in figures]
    p90s = tuple(f"{p90}{DISTURBED_MARK}" if mark else p90 for (p90, _), mark in zip(figures, disturbed, strict=True))
    remarks = tuple(text for _, text in figures)
    table, note = run_table(shown, p90s, remarks), remarks_note(remarks)
    words = words_note(run.outcome for run in shown)
    meanings = (f"Words: {words}." if words else "", f"Remarks: {note}" if note else "")
    answer = f"{runs_answer(runs, len(shown))}{_disturbed_in_words(sum(disturbed))}"
    return Document("runs", answer, (table,), about=tuple(filter(None, meanings)))


def _is_disturbed(p90: str, remarks: str) -> bool:
    """Whether other work lengthened a known p90. It gets a mark: a narrow page has no room for the remarks."""
    return p90 not in (NOT_MEASURED, TOO_FEW_TEXT, NEVER_TEXT) and OTHER_WORK_REMARK in remarks


def _disturbed_in_words(count: int) -> str:
    """The sentence on the marked figures; empty without any."""
    if not count:
        return ""
    runs = "One run was" if count == 1 else f"{count:,} runs were"
    return f" {runs} disturbed by other work on the host: the p90 has the mark{DISTURBED_MARK}."


def runs_answer(runs: Sequence[RecordedRun], shown: int) -> str:
    """A sentence: the number of runs by outcome, and how to see those that are not shown."""
    if not runs:
        return "There are no runs yet."
    outcomes = Counter(run.outcome for run in runs)
    counts = ", ".join(f"{count:,} {outcome}" for outcome, count in outcomes.most_common())
    if shown == len(runs):
        return f"{len(runs):,} {'run' if len(runs) == 1 else 'runs'}, the newest last: {counts}."
    return f"The last {shown:,} of {len(runs):,} runs ({counts}), the newest last. `loadgo runs --full` lists all."


def run_table(runs: Sequence[RecordedRun], p90s: tuple[str, ...], remarks: Sequence[str]) -> Table:
    """A row for each run, with p90 and remarks. A narrow page leaves out script and counts first, and cuts no id."""
    columns = [
        Column("run", tuple(run.id for run in runs)),
        Column("began", tuple(map(_began, runs)), kind="name", spare=1),
        Column("script", tuple(run.name for run in runs), spare=5, kind="name"),
        Column("system", tuple(run.system for run in runs), spare=3, kind="name"),
        Column("users", tuple("" if run.users is None else f"{run.users:,}" for run in runs), spare=2),
        Column("lines", tuple("" if run.interactions is None else f"{run.interactions:,}" for run in runs), spare=4),
        Column("p90", p90s, kept=True),
        Column("outcome", tuple(run.outcome for run in runs), kind="name"),
    ]
    if any(remarks):
        columns.append(remarks_column(remarks))
    absent = {word: CELL_MEANINGS[word] for word in (TOO_FEW_TEXT, NEVER_TEXT)}
    return Table("", tuple(columns), name_width=columns[0].width, absent=absent)


def remarks_column(remarks: Sequence[str]) -> Column:
    """A column of remarks, all but the first of each run below it, since a terminal is narrow."""
    cells = [text.partition(", ") for text in remarks]
    return Column(
        "remarks", tuple(first for first, _, _ in cells), below=tuple(rest for _, _, rest in cells), kind="words"
    )


def _began(run: RecordedRun) -> str:
    """The start on the clock of this host, as `22 Nov 20:25`; of another year, as `22 Nov 2025`."""
    if run.started is None:
        return NOT_MEASURED
    began = run.started.astimezone()
    time = f"{began:%H:%M}" if began.year == datetime.now().year else str(began.year)
    return f"{began.day:2} {_MONTHS[began.month - 1]} {time}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Month names in English, whatever the language of this host."""


def _p90_and_remarks(run: RecordedRun) -> tuple[str, str]:
    """The p90 of the run's steady phase, and the limits of its users with reasons to doubt the figure.

    The p90 is a dash where nothing was typed, and for a run whose tables cannot be read.
    """
    from loadgo.errors import LoadgoError
    from loadgo.measures.run_remarks import DAMAGED_REMARK, run_remarks
    from loadgo.measures.steady_responses import headline_of
    from loadgo.records.tables import load_tables

    if run.interactions is None or run.users is None:
        return NOT_MEASURED, ""
    try:
        tables = load_tables(run.folder)
        return quantile(headline_of(tables.interactions).p90) if run.interactions else NOT_MEASURED, run_remarks(tables)
    except LoadgoError:
        return NOT_MEASURED, DAMAGED_REMARK


def _text(document: Document, width: int | None, *, color: bool) -> str:
    """The text as wide as the terminal or `COLUMNS`. If that has no room for the ids, it is as wide as necessary."""
    (table,) = (section for section in document.sections if isinstance(section, Table))
    if width is None:
        chars = asked_chars()
        width = max(chars, table.fitting(chars).width) if chars else max(table.width, FEWEST_PAGE_CHARS)
    return text_document(document, width=width, color=color)
