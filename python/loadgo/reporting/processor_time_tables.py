"""The tables of processor time: of all processors and of each, in today's words or a document's, and its owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from loadgo.documents.table import Column, Table
from loadgo.measures.summary import Summary
from loadgo.measures.total_time import Category, TotalTime
from loadgo.measures.vocabulary import VocabularyLine, in_words_of
from loadgo.measures.whose_time import OwnerTime
from loadgo.notation.figures import NOT_MEASURED, duration, exact_share, number, shares
from loadgo.notation.terms import OWNER_TERMS, category_name, category_term, idle_cause, owner_name
from loadgo.reporting.meter_price import price_table
from loadgo.reporting.view import View

MOST_PROCESSORS = 64
MOST_USERS = 10
MOST_PROCESSES = 10
_MOST_CATEGORY_CHARS = 28
"""Most characters of a category's name in a text."""
NAMELESS_PROCESSES = "others"
"""The name in records of processes that began when the meters' table of names was full."""
_UNNAMED = "unnamed"
"""The name of these processes in tables, where `14 others` are the rows that are left out."""


def time_tables(summary: Summary, view: View, over_time: Mapping[str, str]) -> list[Table]:
    """All tables of processor time. `over_time` has each category's picture."""
    total_time = summary.total_time
    if total_time is None or not total_time.total_ns:
        return []
    tables = (
        processors(total_time, over_time) if view.vocabulary == "today" else words(summary, view),
        each_processor(total_time),
        accounts(total_time),
        laboratory(total_time),
        price_table(total_time),
        by_process(summary, view),
    )
    return [table for table in tables if table is not None]


def processors(total_time: TotalTime, over_time: Mapping[str, str]) -> Table:
    """All processors' time by category."""
    rows = total_time.categories
    busy_ns, non_idle_ns = total_time.account.busy_ns, total_time.non_idle_ns
    counted = any(row.count is not None for row in rows)
    count_columns = (
        Column("count", (*("" if row.count is None else number(row.count) for row in rows), "", ""), spare=1),
        Column("each", (*("" if row.each_ns is None else duration(row.each_ns) for row in rows), "", ""), spare=1),
    )
    error_cells = (*(exact_share(total_time.share_of(row.error_ns)) if row.error_ns else "" for row in rows), "", "")
    non_idle_cells = (*(_of_non_idle(row, non_idle_ns) for row in rows), _part(busy_ns, non_idle_ns), "")
    non_idle_columns = (Column("of non-idle", non_idle_cells, spare=2),)
    columns = (
        _category_column([row.name for row in rows], ("busy", "all")),
        Column("time", (*(duration(row.time_ns) for row in rows), duration(busy_ns), duration(total_time.total_ns))),
        Column(
            "share", (*shares([row.time_ns for row in rows]), exact_share(total_time.share_of(busy_ns)), "100.00 %")
        ),
        *((Column("±", error_cells, spare=1, of_previous=True),) if any(error_cells) else ()),
        *(non_idle_columns if non_idle_ns < total_time.total_ns else ()),
        *(count_columns if counted else ()),
        *_over_time(over_time, [row.name for row in rows], empty=2),
    )
    return Table(
        "Processors' time",
        columns,
        total_rows=2,
        name_width=_MOST_CATEGORY_CHARS,
        id="processors-time",
        charts=("time",),
    )


def _category_column(categories: list[str], sums: tuple[str, ...]) -> Column:
    """The first column of a table of categories, with the meaning of each name. `sums` names further rows."""
    terms = [category_term(name) for name in categories]
    return Column(
        "category",
        (*(term.name for term in terms), *sums),
        hints=(*(term.sentence for term in terms), *("" for _ in sums)),
    )


def each_processor(total_time: TotalTime) -> Table | None:
    """Each processor's time by category, the largest category first; None for a single processor."""
    count = len(total_time.processors)
    if count < 2:
        return None
    times_by_processor = [[row.by_processor_ns[i] for row in total_time.categories] for i in range(count)]
    parts = [shares(times) for times in times_by_processor]
    most_first = sorted(range(len(total_time.categories)), key=lambda k: -total_time.categories[k].time_ns)
    shown = range(min(count, MOST_PROCESSORS))
    busy = [
        sum(time_ns for time_ns, row in zip(times_by_processor[i], total_time.categories, strict=True) if row.busy)
        for i in shown
    ]
    columns = (
        Column("processor", tuple(total_time.processors[i] for i in shown)),
        Column("busy", tuple(_part(busy[i], sum(times_by_processor[i])) for i in shown)),
        *(
            Column(idle_cause(total_time.categories[k].name), tuple(parts[i][k] for i in shown), spare=rank)
            for rank, k in enumerate(most_first, start=1)
            if total_time.categories[k].time_ns
        ),
        Column("all", tuple("100.00 %" if sum(times_by_processor[i]) else NOT_MEASURED for i in shown)),
    )
    more = "" if count <= MOST_PROCESSORS else f" (the first {MOST_PROCESSORS} of {count})"
    return Table(f"Each processor's time{more}", columns, id="each-processor", folded=True)


def words(summary: Summary, view: View) -> Table:
    """All processors' time in the words of a document, and the categories without a line there."""
    assert summary.total_time is not None
    document = in_words_of(view.vocabulary, summary.total_time, summary.meters)
    rows = (*document.lines, *document.homeless)
    names = (
        *(row.name for row in document.lines),
        *(f"(no line) {category_name(row.name)}" for row in document.homeless),
    )
    columns = (
        Column("line", names),
        Column("share", _shares_of(rows, summary.total_time)),
        Column("of non-idle", tuple("" if row.non_idle is None else exact_share(row.non_idle) for row in rows), 3),
        Column("count", tuple("" if row.count is None else number(row.count) for row in rows), spare=2),
        Column("each", tuple("" if row.each_ns is None else duration(row.each_ns) for row in rows), spare=2),
        Column("in today's words", tuple(row.means_today for row in rows), spare=4, kind="words"),
    )
    return Table(document.title, columns, name_width=40, id="vocabulary", charts=("time",))


def accounts(total_time: TotalTime) -> Table:
    """The owners of the busy time."""
    lines = account(total_time)
    columns = (
        Column(
            "who",
            tuple(owner_name(who) for who, _ in lines),
            hints=tuple(OWNER_TERMS[who].meaning if who in OWNER_TERMS else "" for who, _ in lines),
        ),
        Column("time", tuple(_signed(time) for _, time in lines)),
        Column("of all time", tuple(exact_share(total_time.share_of(time)) for _, time in lines)),
    )
    return Table("Who used the processors", columns, total_rows=1, id="owners")


def account(total_time: TotalTime) -> list[tuple[str, int | None]]:
    """The owners of the busy time with their nanoseconds. The last line is the total."""
    used = total_time.account
    if used.supervisor_ns is not None:
        return [("users", used.users_ns), ("supervisor", used.supervisor_ns), ("busy", used.busy_ns)]
    if used.users_ns is None and not used.driver_ns and used.meters_ns is not None:
        rest_ns = used.busy_ns - used.meters_ns
        return [("meters", used.meters_ns), ("all others", rest_ns), ("busy", used.busy_ns)]
    lines = [
        ("users", used.users_ns),
        ("driver", used.driver_ns),
        ("meters", used.meters_ns),
        ("unattributed", used.unattributed_ns),
    ]
    return [*lines, ("busy", used.busy_ns)]


def laboratory(total_time: TotalTime) -> Table | None:
    """Loadgo's own time; None on a simulated machine, on which it uses none."""
    used = total_time.account
    if used.supervisor_ns is not None or used.laboratory_ns is None:
        return None
    parts = [
        ("driver", used.driver_ns),
        ("sampling and writing", used.meters_ns),
        ("meter programs", used.instrument_ns),
    ]
    lines = [*((name, time) for name, time in parts if time), ("all of loadgo", used.laboratory_ns)]
    columns = (
        Column("what", tuple(name for name, _ in lines)),
        Column("time", tuple(duration(time) for _, time in lines)),
        Column("of all time", tuple(exact_share(total_time.share_of(time)) for _, time in lines)),
        Column("of busy time", tuple(_part(time, used.busy_ns) for _, time in lines), spare=1),
    )
    return Table("Own time of loadgo", columns, total_rows=1, id="own-time", folded=True)


def by_process(summary: Summary, view: View) -> Table | None:
    """The processes with the most processor time; None if time by process was not measured."""
    owners = tuple(
        replace(owner, name=_UNNAMED) if owner.name == NAMELESS_PROCESSES else owner
        for owner in summary.whose_time.processes
    )
    return _whose(summary, "process", owners, view.rows(MOST_PROCESSES), id="processes")


def by_user(summary: Summary, view: View) -> Table | None:
    """The users with the most processor time; None if it was not measured, or nobody was logged in."""
    if summary.run.kind == "meter":
        return None
    return _whose(summary, "user", summary.whose_time.users, view.rows(MOST_USERS), id="users")


def _whose(summary: Summary, heading: str, owners: tuple[OwnerTime, ...], most_rows: int, *, id: str) -> Table | None:
    if not owners:
        return None
    shown, total = owners[:most_rows], summary.total_time
    left_out = len(owners) - len(shown)
    others = [_together(f"{left_out} other{'s' if left_out > 1 else ''}", owners[most_rows:])] if left_out else []
    rows = [*shown, *others, _together(f"all {len(owners)}", owners)]
    waits = {
        "CPU wait": [row.ready_wait_ns for row in rows],
        "page wait": [row.paging_wait_ns for row in rows],
        "disk wait": [row.io_wait_ns for row in rows],
    }
    columns = (
        Column(heading, tuple(row.name for row in rows)),
        Column("CPU", tuple(duration(row.cpu_ns) for row in rows)),
        Column("of all time", tuple(exact_share(total.share_of(row.cpu_ns) if total else None) for row in rows)),
        *(
            Column(name, tuple(duration(time) for time in times), spare=spare)
            for spare, (name, times) in enumerate(waits.items(), start=1)
            if any(time is not None for time in times)
        ),
    )
    return Table(f"Time by {heading}", columns, total_rows=1, id=id)


def _together(name: str, rows: tuple[OwnerTime, ...]) -> OwnerTime:
    def sum_of(times: list[int | None]) -> int | None:
        known = [time for time in times if time is not None]
        return sum(known) if known else None

    return OwnerTime(
        name=name,
        cpu_ns=sum_of([row.cpu_ns for row in rows]),
        ready_wait_ns=sum_of([row.ready_wait_ns for row in rows]),
        paging_wait_ns=sum_of([row.paging_wait_ns for row in rows]),
        io_wait_ns=sum_of([row.io_wait_ns for row in rows]),
    )


def _over_time(pictures_by_name: Mapping[str, str], names: list[str], empty: int) -> tuple[Column, ...]:
    if not pictures_by_name:
        return ()
    width = max(map(len, pictures_by_name.values()))
    pictures = (pictures_by_name.get(name, "").ljust(width) for name in names)
    return (Column("over the run", (*pictures, *([""] * empty)), spare=3),)


def _of_non_idle(row: Category, non_idle_ns: int) -> str:
    return _part(row.time_ns, non_idle_ns) if row.in_non_idle else ""


def _part(part_ns: int | None, whole_ns: int) -> str:
    return exact_share(part_ns / whole_ns if part_ns is not None and whole_ns else None)


def _shares_of(rows: tuple[VocabularyLine, ...], total: TotalTime) -> tuple[str, ...]:
    """The lines' shares, rounded so that they add up if the lines cover all time. A line with only a count has none."""
    parts = [row for row in rows if row.time_ns is not None and not row.sum]
    whole = sum(row.time_ns or 0 for row in parts) == total.total_ns
    added = dict(zip((row.name for row in parts), shares([row.time_ns or 0 for row in parts]), strict=True))
    return tuple(
        ""
        if row.time_ns is None and row.count is not None
        else added[row.name]
        if whole and row.name in added
        else exact_share(total.share_of(row.time_ns))
        for row in rows
    )


def _signed(time: int | None) -> str:
    if time is None:
        return NOT_MEASURED
    return f"−{duration(-time)}" if time < 0 else duration(time)
