"""The meters in every format: what is printed adds up, fits its page, and says what it means."""

import csv
import dataclasses
import html
import io
import json
import re

import polars as pl
import pytest
from loadgo.documents.formats import ReportFormat
from loadgo.measures.summary import Summary, summarize
from loadgo.notation.figures import duration, shares
from loadgo.records.tables import Tables
from loadgo.reporting.report import render
from loadgo.reporting.view import View
from support.printed_rows import without_spans
from support.synthetic import closed_loop, frame
from support.synthetic_meters import SHARES, metered_alone, metered_host

TOTAL_TIME_AT_80 = """\
Processors' time
category                       time      share   of non-idle     count      each
────────────────────────────────────────────────────────────────────────────────
user mode                    34.2 s    27.12 %       46.21 %
system call                  12.3 s     9.77 %       16.64 %   741,888   16.6 µs
page fault                   7.46 s     5.92 %       10.09 %    67,221    111 µs
page-table fault             1.47 s     1.16 %        1.98 %     5,040    291 µs
memory growth                483 ms     0.38 %        0.65 %     3,780    128 µs
interrupt                    1.79 s     1.42 %        2.42 %    26,460   67.7 µs
soft interrupt               2.26 s     1.80 %        3.06 %    44,100   51.3 µs
context switch               3.69 s     2.93 %        4.99 %   315,000   11.7 µs
kernel thread                1.34 s     1.07 %        1.82 %
unaccounted                  362 ms     0.29 %        0.49 %
meter programs               1.08 s     0.85 %        1.46 %
idle: nothing to run         22.4 s    17.81 %
idle: loading a program      1.76 s     1.39 %        2.38 %
idle: not eligible           1.24 s     0.98 %        1.67 %
idle: throttled              4.54 s     3.60 %        6.14 %
idle: waiting for a page     20.1 s    15.97 %
idle: waiting for the disk   8.29 s     6.58 %
idle: wake-up delay          1.21 s     0.96 %

busy                         66.4 s    52.71 %       89.81 %
all                           126 s   100.00 %
Not shown in 80 characters: over the run.
"""


@pytest.fixture(scope="module")
def run() -> Tables:
    """A host's run with everything metered."""
    return metered_host()


@pytest.fixture(scope="module")
def summary(run: Tables) -> Summary:
    """The summary of a run, with the parts by command."""
    return summarize(run, by="command")


def page(summary: Summary, run: Tables, name: ReportFormat = "text", width: int = 80, **view: object) -> str:
    """The report as a format of text, by default the full one."""
    made = render(summary, run, name, width=width, view=View(**{"full": True, **view}))  # type: ignore[arg-type]
    assert isinstance(made, str)
    return made


def section(text: str, title: str) -> str:
    """The table under a title of a page of text."""
    return re.split(r"\n\n(?=[A-Z])", text[text.index(f"\n{title}") + 1 :])[0]


def test_the_table_of_total_time_reads_as_it_should(summary: Summary, run: Tables) -> None:
    table = section(page(summary, run), "Processors' time")
    assert table.rstrip() + "\n" == TOTAL_TIME_AT_80


@pytest.mark.parametrize("vocabulary", ["today", "1969", "1973"])
def test_printed_shares_add_up_to_all_of_the_time(summary: Summary, run: Tables, vocabulary: str) -> None:
    title = {"today": "Processors' time", "1969": "Total time in the", "1973": "Total time meters"}[vocabulary]
    lines = section(page(summary, run, vocabulary=vocabulary), title).splitlines()[3:]
    kept = [line for line in lines if line and not line.startswith(("busy ", "all ", "Idle, total"))]
    printed = [match[1] for line in kept if (match := re.match(r"\S.*?\S  +(?:[\d.]+ m?s +)?(\d+\.\d\d) %", line))]
    assert len(printed) > 10
    assert sum(round(float(share) * 100) for share in printed) == 10_000


def test_rounded_shares_add_up_and_none_is_off_by_a_hundredth_of_a_percent() -> None:
    parts = [1, 1, 1, 7, 13, 999, 123_456]
    printed = [float(text.removesuffix(" %")) for text in shares(parts)]
    assert round(sum(printed), 2) == 100
    assert all(abs(shown - 100 * part / sum(parts)) < 0.01 for shown, part in zip(printed, parts, strict=True))
    assert shares([0, 0]) == ["–", "–"]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
@pytest.mark.parametrize("vocabulary", ["today", "1969", "1973"])
def test_no_line_is_wider_than_the_page(summary: Summary, run: Tables, width: int, vocabulary: str) -> None:
    assert max(map(len, page(summary, run, width=width, vocabulary=vocabulary).splitlines())) <= width


@pytest.mark.parametrize("name", ["text", "md", "html"])
def test_the_laboratorys_own_time_is_a_line_of_its_own(summary: Summary, run: Tables, name: ReportFormat) -> None:
    text = page(summary, run, name, width=200)
    assert "1.30 % of all time was loadgo's own" in html.unescape(without_spans(text))
    assert "all of loadgo" in text
    document = json.loads(page(summary, run, "json"))
    assert summary.total_time is not None
    account = summary.total_time.account
    assert document["total_time"]["account"]["laboratory_ns"] == account.laboratory_ns
    assert account.laboratory_ns == sum(
        part or 0 for part in (account.driver_ns, account.meters_ns, account.instrument_ns)
    )


def test_a_page_of_text_has_pictures_of_time_faults_and_queue(summary: Summary, run: Tables) -> None:
    wide = page(summary, run, width=120)
    assert re.search(r"^idle: nothing to run .*[▁▂▃▄▅▆▇█]{20}", wide, re.MULTILINE)
    assert re.search(r"^1\.02–2\.05 µs +[\d,]+ +█{40}$", wide, re.MULTILINE)
    assert re.search(r"^2-3 .*[▁▂▃]{20}", wide, re.MULTILINE)
    assert not re.search("[▁▂▃▄▅▆▇█░▒▓]", page(summary, run, "md"))


def test_of_a_long_path_its_end_is_shown(summary: Summary, run: Tables) -> None:
    table = section(page(summary, run), "Faults and samples by mapping")
    assert "…a-folder-with-a-long-name/libc.so.6 " in table
    assert section(page(summary, run), "Samples by function").splitlines()[3].startswith("next_token")


def test_what_was_asked_for_is_told_apart_by_command(summary: Summary, run: Tables) -> None:
    text = page(summary, run, top=2)
    assert "System calls by command (the first 2 of each, by time)" in text
    assert len(section(text, "System calls by command").splitlines()) == 3 + 2
    assert "System calls (the first 2 of 24 by time)" in text
    assert "10 others" in section(text, "Time by user")


def test_what_was_asked_for_and_is_not_there_is_said() -> None:
    bare = closed_loop(10, 20)
    text = page(summarize(bare, by="user"), bare, width=200)
    assert "This run's meters did not count faults and system calls by user." in text


def test_each_word_of_a_document_is_told_in_todays(summary: Summary, run: Tables) -> None:
    text = page(summary, run, width=200, vocabulary="1973")
    assert "Total time meters in the words of 1973 (CSR RFC 20)" in text
    assert "Idle, NMP: waiting for a page + waiting for the disk + wake-up delay" in text
    assert "No line in 1973: unaccounted, meter programs, idle: throttled." in text
    assert "Processors' time" not in text
    told = json.loads(page(summary, run, "json", vocabulary="1973"))["vocabulary"]
    assert [line["name"] for line in told["lines"]][-1] == "Other"


def test_json_has_what_the_charts_of_the_meters_draw(summary: Summary, run: Tables) -> None:
    drawn = json.loads(page(summary, run, "json"))["over_time"]
    assert set(drawn) == {"time", "faults", "interrupts", "queue", "lengths"}
    assert set(drawn["time"]["columns"]["category"]) == set(SHARES)
    assert {len(column) for column in drawn["faults"]["columns"].values()} == {len(drawn["faults"]["columns"]["count"])}


def test_csv_has_the_data_of_the_chart_that_was_named(summary: Summary, run: Tables) -> None:
    made = render(summary, run, "csv", chart="time")
    assert isinstance(made, str)
    rows = list(csv.DictReader(io.StringIO(made)))
    assert {row["category"] for row in rows} == set(SHARES)
    spans: dict[str, float] = {}
    for row in rows:
        spans[row["from_s"]] = spans.get(row["from_s"], 0) + float(row["share"])
    assert list(spans.values()) == pytest.approx([1.0] * len(spans), abs=1e-3)
    with pytest.raises(ValueError, match="there is no chart 'pie'; there are response, throughput"):
        render(summary, run, "csv", chart="pie")


def test_choices_that_there_are_not_are_refused_in_words(summary: Summary, run: Tables) -> None:
    for view, words in (
        ({"vocabulary": "1985"}, "vocabulary '1985' is none of today, 1969, 1973"),
        ({"by": "file"}, "by 'file' is none of command, user"),
        ({"top": 0}, "top 0 is not a number of rows"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            page(summary, run, **view)  # type: ignore[arg-type]


def test_an_account_that_does_not_add_up_is_told_at_the_top(run: Tables) -> None:
    short = run.time.with_columns(
        time_ns=pl.when(pl.col("category").cast(pl.String) == "user").then(pl.col("time_ns") // 2).otherwise("time_ns")
    )
    broken = dataclasses.replace(run, time=short)
    assert page(summarize(broken), broken, width=200).startswith("The processors' account does not add up")
    assert "does not add up" not in page(summarize(run), run, width=200)


def test_what_processes_and_files_are_called_cannot_speak_to_a_terminal_or_a_page(run: Tables) -> None:
    hostile = "\x1b]0;x\x07<img src=x onerror=alert(1)>"
    row = {"at_ns": 90 * 10**9, "span_ns": 10**9}
    segments = [row | {"segment": hostile, "faults_minor": 9_999_999, "faults_major": 9_999_999, "samples": 9_999_999}]
    processes = [row | {"who": hostile, "cpu_ns": 10**12, "user": 1}]
    named = dataclasses.replace(
        run,
        segments=pl.concat([run.segments, frame(segments, "segments")]),
        processes=pl.concat([run.processes, frame(processes, "processes")]),
    )
    summary_of_run = summarize(named, phases="all")
    text = page(summary_of_run, named, width=120)
    assert not set(text) & set("\x1b\x07")
    assert "�]0;x�<img" in text
    html = page(summary_of_run, named, "html")
    assert "<img src=x" not in html
    assert not set(html) & set("\x1b\x07")


@pytest.fixture(scope="module")
def alone() -> Tables:
    """A host that was metered without a load."""
    return metered_alone()


def test_a_host_without_a_load_is_told_by_how_busy_it_was_and_why_not(alone: Tables) -> None:
    text = page(summarize(alone, phases="all"), alone, width=100)
    assert text.startswith("2 processors were 54.67 % busy over 90.0 s. Idle: 17.27 % nothing to run, 15.00 % ")
    assert "this host: metered without a load" in text
    assert section(text, "Who used the processors").splitlines()[3:5] == [
        "sampling     270 ms        0.15 %",
        "all others   98.1 s       54.52 %",
    ]
    assert not re.search(r"^(Driver|Audit|Cost|Sessions|Response time)", text, re.MULTILINE)


def test_a_command_that_was_metered_is_told_first(run: Tables) -> None:
    told = {"kind": "meter", "name": "make", "load": {}}
    one = run.interactions.head(1).with_columns(command=pl.lit("make", pl.Categorical))
    metered = dataclasses.replace(run, interactions=one, conditions=run.conditions | told)
    text = page(summarize(metered, phases="all"), metered, width=100)
    used = (
        r"`make` took [\d.]+ ms: [\d.]+ ms of processor time, 100 minor faults, 0 major faults, [\d,]+ system calls\. "
    )
    words = used + (
        r"The host was metered for 90\.0 s, from before the command to after it: 2 processors were 54\.67 % busy\."
    )
    assert re.match(words, text.replace("\n", " "))
    quoted = metered.conditions | {"name": "sh -c ls | wc", "command": ["loadgo", "meter", "--", "sh", "-c", "ls | wc"]}
    shown = page(summarize(dataclasses.replace(metered, conditions=quoted), phases="all"), metered, width=100)
    assert "`sh -c 'ls | wc'` took" in shown, "without its quotes it is another command"
    assert "Response time" not in text
    assert "The host was busy with other things" not in text


def the_command(run: Tables, tier: str = "exact") -> Tables:
    """One command that was metered: the meters know its process, which is user 1, and of no line."""
    changes = {"kind": "meter", "name": "make", "load": {}, "meters": {"tier": tier}}
    counts = {"faults_minor": pl.lit(1_326, pl.UInt32), "faults_major": pl.lit(2, pl.UInt32)}
    one = run.interactions.head(1).with_columns(command=pl.lit("make", pl.Categorical), **counts)
    unclocked = [{"at_ns": 10**9, "span_ns": 10**9, "kind": "minor unclocked", "user": 1, "count": 11}]
    faults = pl.concat([run.faults, frame([*unclocked, unclocked[0] | {"user": None}], "faults")])
    of_no_line = pl.lit(None, pl.Categorical)
    mine = pl.col("user").is_null() | (pl.col("user") == 1)
    tables = {"faults": faults, "primitives": run.primitives}
    by_process = {name: rows.filter(mine).with_columns(command=of_no_line) for name, rows in tables.items()}
    if tier == "cheap":
        by_process = {name: rows.clear() for name, rows in by_process.items()}
    return dataclasses.replace(run, interactions=one, conditions=run.conditions | changes, **by_process)


def test_a_metered_commands_own_faults_and_system_calls_are_told(run: Tables) -> None:
    made = the_command(run)
    text = page(summarize(made), made, width=120)
    calls = sum(row["count"] for row in made.primitives.filter(pl.col("user") == 1).iter_rows(named=True))
    assert f"1,326 minor faults, 2 major faults, {calls:,} system calls." in text.replace("\n", " ")
    assert re.search(r"^minor +27,000 ", section(text, "Faults of the command itself"), re.MULTILINE)
    assert re.search(r"^wait4 +900 ", section(text, "System calls of the command itself"), re.MULTILINE)
    assert "of the command itself" not in page(summarize(run), run, width=120)


def test_what_a_metered_command_did_is_told_apart_by_command_and_by_user(run: Tables) -> None:
    made = the_command(run)
    for by, whose in (("command", "make"), ("user", "1")):
        summary_of_run = summarize(made, by=by)  # type: ignore[arg-type]
        assert [part.whose for part in summary_of_run.meters.parts] == [whose]
        text = page(summary_of_run, made, width=120, by=by)
        assert "did not count faults and system calls" not in text
        assert f"System calls by {by}" not in text


def test_the_exact_meters_own_time_in_a_commands_is_said_beside_it(run: Tables) -> None:
    exact, cheap = (the_command(run, tier) for tier in ("exact", "cheap"))
    words = "of processor time (with that of the exact meters)"
    assert words in page(summarize(exact), exact, width=200)
    assert "The command's processor time includes the meters' programs" in page(summarize(exact), exact, width=200)
    assert "count from the start of its process (fork)" in page(summarize(exact), exact, width=400)
    assert "that of the exact meters" not in page(summarize(cheap), cheap, width=200)
    assert "system calls." not in page(summarize(cheap), cheap, width=200).split("\n\n")[0]


def test_unclocked_faults_are_explained_and_have_no_time(run: Tables) -> None:
    made = the_command(run)
    text = page(summarize(made), made, width=120)
    assert "Untimed faults were made by the kernel within a system call" in text
    assert re.search(r"^minor, untimed +11 +– +– +–$", section(text, "Faults of the command itself"), re.MULTILINE)
    assert "Untimed" not in page(summarize(run), run, width=120)


def test_a_clocked_faults_mean_is_shown_with_the_entry_and_return_that_no_program_clocks(run: Tables) -> None:
    unpriced, price = the_command(run), {"fault": {"bare_ns": 700.0, "clocked_ns": 400.0}}
    conditions = unpriced.conditions | {"meters": {"calibration": price}}
    summary = summarize(priced := dataclasses.replace(unpriced, conditions=conditions))
    assert summary.meters.command is not None
    means_ns = {row.name: row.mean_ns or 0.0 for row in summary.meters.command.faults}
    table = section(page(summary, priced, width=120), "Faults of the command itself")
    both = " +".join(duration(means_ns["minor"] + added) for added in (0, 300))
    assert re.search(rf"^minor +27,000 +{both} (.|\n)*^minor, untimed +11 +– +– ", table, re.MULTILINE)
    assert "corrected" not in page(summarize(unpriced), unpriced, width=120)


def test_unclocked_interrupts_are_counted_explained_and_have_no_time(run: Tables) -> None:
    row = {"at_ns": 60 * 10**9, "span_ns": 10**9, "kind": "interrupt unclocked", "count": 11}
    faults = pl.concat([run.faults, frame([row, row | {"device": "timer"}], "faults")])
    made = dataclasses.replace(run, faults=faults)
    text = page(summarize(made), made, width=120)
    assert "Untimed interrupts came while the kernel ran" in text
    assert "Untimed faults" not in text
    assert re.search(r"^interrupt, untimed +11 +– ", section(text, "Faults"), re.MULTILINE)
    assert re.search(r"^timer, untimed +11 +– ", section(text, "Interrupts"), re.MULTILINE)
    before, after = (summarize(tables).meters.ready for tables in (run, made))
    assert before is not None
    assert after is not None
    assert before.interruptions is not None
    assert after.interruptions == before.interruptions + 11


def test_segments_with_the_most_samples_are_first_and_memory_of_no_file_is_not_left_out(run: Tables) -> None:
    table = section(page(summarize(run), run, width=120), "Faults and samples by mapping")
    assert [line.split()[0] for line in table.splitlines()[3:]] == ["cc1", LIBC_END, "[heap]", "[anon]"]
    few = section(page(summarize(run), run, width=120, top=3), "Faults and samples by mapping (3 of 4)")
    assert [line.split()[0] for line in few.splitlines()[3:]] == ["cc1", "[heap]", "[anon]"]
    unsampled = dataclasses.replace(run, segments=run.segments.with_columns(samples=pl.lit(None, pl.UInt64)))
    names = [row.name for row in summarize(unsampled).meters.segments]
    assert names[:2] == ["[anon]", "[heap]"]


LIBC_END = "…a-folder-with-a-long-name/libc.so.6"


def test_why_a_host_is_idle_is_said_in_a_hosts_words(run: Tables) -> None:
    text = page(summarize(run), run, width=400)
    assert "not eligible, while a task is not let run: over memory.high, waiting for reclaim, or frozen" in text
    assert "loading a program, while a program is brought into memory: a wait in execve, or in a program's" in text
    assert "multiprogramming limit" not in text


def test_why_time_by_process_is_not_the_busy_time_is_said_when_it_is_not(run: Tables) -> None:
    assert "a process is charged when it leaves the processor" in page(summarize(run), run, width=400)
    busy = run.time.filter(~pl.col("category").cast(pl.String).str.starts_with("idle "))
    whole = busy.group_by("at_ns", "span_ns", maintain_order=True).agg(cpu_ns=pl.col("time_ns").sum())
    charged = frame([row | {"who": "cc1"} for row in whole.iter_rows(named=True)], "processes")
    agreed = dataclasses.replace(run, processes=charged)
    assert "a process is charged when" not in page(summarize(agreed), agreed, width=400)


@pytest.mark.parametrize("name", ["html", "json", "md", "csv"])
def test_a_host_without_a_load_has_a_report_in_every_format(alone: Tables, name: ReportFormat) -> None:
    page_text = page(summarize(alone), alone, name)
    if name == "html":
        drawn = set(json.loads(re.findall(r'id="specs">(.*?)</script>', page_text, re.DOTALL)[0]))
        assert {"over-time", "time", "faults"} <= drawn
        assert not {"response", "throughput", "users", "timeline"} & drawn
    if name == "json":
        assert set(json.loads(page_text)["over_time"]) >= {"time", "faults"}


def test_what_the_records_lack_is_told_without_a_load_too(alone: Tables) -> None:
    lost = [{"at_ns": 1, "what": "meters", "count": 3, "reason": "the map of primitives was full"}]
    broken = dataclasses.replace(alone, lost=frame(lost, "lost"))
    assert "3 readings of the meters lost: the map of primitives was full" in page(summarize(broken), broken, width=200)


@pytest.mark.parametrize(
    ("stretch_s", "words", "in_short"),
    [
        (63.0, "", False),
        (60.5, "", False),
        (70.0, "cover 63.0 s of the steady phase (70.0 s): the metered spans that lie in it", False),
        (126.0, "cover 63.0 s of the steady phase (126 s): the metered spans that lie in it", True),
        (0.5, "cover 63.0 s, since no metered span lies in the steady phase (500 ms)", True),
    ],
)
def test_tables_that_do_not_cover_the_steady_phase_say_so(
    summary: Summary, run: Tables, stretch_s: float, words: str, in_short: bool
) -> None:
    assert summary.total_time is not None
    assert summary.total_time.span_ns == 63_000_000_000
    stretch = dataclasses.replace(summary.stretch, start_ns=0, end_ns=round(stretch_s * 1e9))
    other = dataclasses.replace(summary, stretch=stretch)
    full, short = (" ".join(page(other, run, full=full).split()) for full in (True, False))
    assert ("Coverage" in full) == bool(words)
    assert words in full
    assert ("Coverage" in short) == in_short
