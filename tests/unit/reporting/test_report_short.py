"""The short report: at most 40 lines, with each warning, the details that were asked for, and the way to the rest."""

import dataclasses
import re

import polars as pl
import pytest
from loadgo.documents.as_text import text_document
from loadgo.measures.fail_if import with_conditions
from loadgo.measures.summary import Summary, summarize
from loadgo.records.tables import Tables
from loadgo.reporting.document import report_document
from loadgo.reporting.report import render
from loadgo.reporting.view import View
from support.synthetic import Work, closed_loop, empty_run, frame, interaction, run_of
from support.synthetic_meters import metered_alone, metered_host

SCRIPT = [Work(name, 0.05) for name in ("edit", "compile", "rename", "print", "run", "list", "delete")]
MANY = [Work(f"command-{place:02d}", 0.002 * place) for place in range(1, 31)]
WIDTHS = (80, 100, 120)

AT_100 = """\
20 users; everyone was served: p90 155 ms for `edit`, the slowest command, and p90 136 ms over all
commands. 4.06 interactions a second; the processors were 10.5 % busy, 10.0 % for the users.
Trust: high. Lines were typed on time (20.0 µs late at p99); Little's law holds within 1.1 %; no
record lost; the host was quiet.

synthetic: 20 users, closed load, think exponential(2s), 70 passes, seed 1
testhost, kernel 6.1, 2 processors, 2026-11-21 01:37:05
Figures are of the 1,150 interactions of the steady phase (283 s); 91 of warm-up and 159 of
ramp-down are left out.

Response time
command        count       p50     p50's 95 %      p90    p90's 95 %      p99      mean   failed
────────────────────────────────────────────────────────────────────────────────────────────────
edit             165   42.5 ms   35.0–58.9 ms   155 ms    114–182 ms   246 ms   62.4 ms        0
compile          166   45.4 ms   34.7–53.8 ms   131 ms    114–174 ms   300 ms   63.3 ms        0
rename           164   45.6 ms   27.8–56.0 ms   143 ms    128–190 ms   265 ms   62.5 ms        0
print            159   38.3 ms   31.4–47.4 ms   117 ms   95.9–172 ms   210 ms   54.5 ms        0
run              164   40.2 ms   35.8–53.8 ms   112 ms   97.6–140 ms   191 ms   51.8 ms        0
list             166   46.1 ms   34.5–60.0 ms   133 ms   99.4–153 ms   259 ms   60.6 ms        0
delete           166   44.4 ms   30.5–57.3 ms   149 ms    111–194 ms   272 ms   65.6 ms        0

all commands   1,150   42.7 ms   40.0–46.9 ms   136 ms    125–144 ms   254 ms   60.1 ms        0
Not shown in 100 characters: p99's 95 %. `COLUMNS=109` or `--format html` shows all columns.

Processors  users 10.0 %, idle 89.5 %
            7.5 % user mode
            3.0 % system
Response    17.7 % waiting for a processor, 10.6 ms of 60.1 ms on average
More        `loadgo report runs/a-run --full` prints all tables and notes; with `--format html` it
            is a page with charts.
"""


def short(run: Tables, width: int = 100, **view: object) -> str:
    """The short report of a run, as a text."""
    by = view.get("by")
    made = render(summarize(run, by=by), run, "text", view=View(**view), width=width, run="runs/a-run")  # type: ignore[arg-type]
    assert isinstance(made, str)
    return made


def in_words(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def labelled(text: str, label: str) -> list[str]:
    """The lines of a note, from the line with its label to the next label."""
    lines = text.splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith(f"{label} "))
    end = next((at for at in range(begin + 1, len(lines)) if not lines[at].startswith(" ")), len(lines))
    return lines[begin:end]


def with_lost(run: Tables, count: int) -> Tables:
    """The run, of which `count` records are lost."""
    rows = [{"at_ns": 10**9, "user": None, "what": "record", "reason": "the disk was full", "count": count}]
    return dataclasses.replace(run, lost=frame(rows, "lost"))


@pytest.fixture(scope="module")
def typical() -> Tables:
    """A run of seven commands without anything wrong."""
    return closed_loop(20, 10, SCRIPT, think_s=5.0)


@pytest.fixture(scope="module")
def metered() -> Tables:
    """A host's run with everything metered."""
    return metered_host()


def test_the_short_report_reads_as_it_should(typical: Tables) -> None:
    assert short(typical) == AT_100


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("script", [SCRIPT, MANY], ids=["seven commands", "thirty"])
def test_a_run_ends_in_forty_lines_that_fit_the_page(script: list[Work], width: int) -> None:
    lines = short(closed_loop(20, 20, script, think_s=5.0), width).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_a_metered_host_ends_in_forty_lines_too(metered: Tables, width: int) -> None:
    for run, phases in ((metered, "steady"), (metered_alone(), "all")):
        made = render(summarize(run, phases=phases), run, "text", width=width, run="runs/a-run")
        lines = str(made).splitlines()
        assert len(lines) <= 40
        assert max(map(len, lines)) <= width


@pytest.mark.long
def test_of_many_commands_the_slowest_are_shown_and_the_others_counted() -> None:
    run = closed_loop(20, 40, MANY, think_s=9.0)
    text, summary = short(run), summarize(run)
    shown = [line.split()[0] for line in text.splitlines() if line.startswith("command-")]
    p90_ns = {row.name: row.response.quantile("p90").value_ns or 0.0 for row in summary.commands}
    assert len(shown) == 12
    assert set(shown) == set(sorted(p90_ns, key=lambda name: -p90_ns[name])[:12])
    assert shown == sorted(shown), "in the order of the script"
    assert "18 of 30 commands are left out: those with the shortest p90." in text
    assert "all commands" in text
    whole = text_document(report_document(summary), width=100)
    assert all(name in whole for name in p90_ns)


def test_one_command_that_is_left_out_is_one() -> None:
    text = short(closed_loop(20, 10, MANY[:13], think_s=9.0))
    assert "1 of 13 commands is left out: that with the shortest p90." in text


def test_the_failures_of_commands_that_are_left_out_are_counted() -> None:
    run = closed_loop(20, 20, MANY, think_s=9.0)
    bad = (pl.col("command").cast(pl.String) == "command-01") & (pl.col("phase") == "steady")
    outcome = pl.when(bad).then(pl.lit("failed", pl.Categorical)).otherwise(pl.col("outcome").cast(pl.Categorical))
    failing = dataclasses.replace(
        run, interactions=run.interactions.with_columns(outcome=outcome.cast(run.interactions.schema["outcome"]))
    )
    count = summarize(failing).command("command-01").outcomes.errors
    assert count > 0
    assert f"18 of 30 commands are left out, with {count} bad lines: those with the shortest p90." in short(failing)


def test_the_number_of_rows_that_was_asked_for_is_shown() -> None:
    text = short(closed_loop(20, 20, MANY, think_s=9.0), top=30)
    assert sum(line.startswith("command-") for line in text.splitlines()) == 30
    assert "commands are left out" not in text


def test_warnings_are_whole_and_first_in_both_reports(typical: Tables) -> None:
    late = typical.interactions.with_columns(
        planned_ns=(pl.col("sent_ns").cast(pl.Int64) - 5_000_000).clip(0).cast(pl.UInt64)
    )
    wrong = with_lost(dataclasses.replace(typical, interactions=late), 3)
    killed = dataclasses.replace(wrong, conditions=wrong.conditions | {"finished": False})
    full = text_document(report_document(summarize(killed)), width=100)
    first = full[: full.index("20 users;")]
    assert first.count("INVALID") == 1
    assert "3 records are lost" in first
    assert short(killed).startswith(first)


def test_what_is_wrong_has_a_line_of_its_own_and_what_is_well_stays_in_one(typical: Tables) -> None:
    assert short(typical).count("Trust: high.") == 1
    assert "no record lost" in " ".join(short(typical).split())
    lost = short(with_lost(typical, 3))
    assert "no record lost" not in " ".join(lost.split())
    assert "3 records lost: the disk was full" in in_words(lost)
    late = typical.interactions.with_columns(
        planned_ns=(pl.col("sent_ns").cast(pl.Int64) - 5_000_000).clip(0).cast(pl.UInt64)
    )
    text = short(dataclasses.replace(typical, interactions=late))
    assert "typed on time" not in text
    assert "NOT GOOD: lateness p50 / p99 / max 5.00 ms" in in_words(text)
    assert "INVALID: " in text
    assert "20 users; everyone was served, but the response times are not valid: p90 " in in_words(text)


def test_the_largest_parts_of_the_time_are_told_and_waits_rank_among_them(typical: Tables, metered: Tables) -> None:
    facts = labelled(short(metered), "Processors") + labelled(short(metered), "Response")
    assert len(facts) >= 3
    owners, *parts = facts
    assert owners.startswith("Processors  users ")
    assert any("user mode" in line for line in parts)
    busy = closed_loop(20, 30, [Work("edit", 1.0)], think_s=1.0)
    assert "waiting for a processor" in in_words(short(busy))
    usage, mean_ns = summarize(busy).everything.usage, summarize(busy).everything.response.mean_ns
    assert usage.ready_wait_ns is not None
    assert mean_ns is not None
    assert f"{100 * usage.ready_wait_ns / mean_ns:.1f} % waiting for a processor" in in_words(short(busy))


def test_the_owners_of_the_processors_time_add_up_with_the_idle_time(typical: Tables, metered: Tables) -> None:
    for run in (typical, metered):
        total_time = summarize(run).total_time
        assert total_time is not None
        (owners, *_) = labelled(short(run), "Processors")
        parts = dict(re.findall(r"([a-z][a-z' ]+) (\d+\.\d) %", owners.removeprefix("Processors")))
        assert {"users", "idle"} <= set(parts)
        assert float(parts["users"]) == pytest.approx(
            100 * (total_time.share_of(total_time.account.users_ns) or 0), abs=0.1
        )
        assert sum(map(float, parts.values())) == pytest.approx(100, abs=1.2), "owners below 0.5 % are left out"


def test_an_option_that_asks_for_a_detail_shows_it(metered: Tables) -> None:
    plain = short(metered)
    assert "Faults by command" not in plain
    assert "Time by process" not in plain
    by = short(metered, by="command")
    assert "Faults by command" in by
    assert "by command (the first 5 of each, by time)" in by
    assert "Total time meters in the words of 1973" in short(metered, vocabulary="1973")
    top = short(metered, top=2)
    assert "Time by process" in top
    assert "by mapping (2 of " in top
    assert "Cost" not in plain
    assert "A user's hour is" in in_words(short(metered, asked_notes=frozenset(["Cost"])))


def test_a_host_metered_without_a_load_shows_the_processes_that_used_most() -> None:
    alone = metered_alone()
    kworker = alone.processes.filter(pl.col("who").cast(pl.String) == "kworker/0:1")
    workers = [
        kworker.with_columns(who=pl.lit(f"worker-{n}", pl.Categorical), cpu_ns=pl.col("cpu_ns") // n) for n in (2, 3, 4)
    ]
    run = dataclasses.replace(alone, processes=pl.concat([alone.processes, *workers]))
    processes = summarize(run).whose_time.processes
    text = short(run)
    assert len(processes) == 6
    assert "Time by process" in text
    assert [name for name in (row.name for row in processes) if f"\n{name} " in text] == [
        row.name for row in processes[:4]
    ]
    assert "2 others" in text
    assert len(text.splitlines()) <= 40


def test_a_breakdown_that_was_not_metered_is_said(typical: Tables) -> None:
    lacking = "This run's meters did not count faults and system calls by user. Only the exact meters do: run it again"
    assert lacking in in_words(short(typical, by="user"))


def test_the_result_of_each_condition_is_shown(typical: Tables) -> None:
    summary: Summary = with_conditions(summarize(typical), ["p90 > 1h", "p50 > 1ns"])
    text = text_document(report_document(summary), width=100, short=True)
    assert text.startswith("Failed: p50 is")
    assert "not > 60.0 min" in " ".join(labelled(text, "Fail if"))


def test_the_way_to_the_rest_is_the_last_line(typical: Tables) -> None:
    more = in_words("\n".join(labelled(short(typical), "More")))
    assert "`loadgo report runs/a-run --full`" in more
    assert "`--format html`" in more
    assert short(typical).rstrip().endswith(more.split()[-1])


def test_a_run_in_which_nothing_happened_is_short_too() -> None:
    text = short(empty_run())
    assert text.startswith("Nobody typed a line: there is nothing to report.")
    assert len(text.splitlines()) <= 12


def test_signs_in_the_table_are_explained() -> None:
    unanswered = short(run_of([interaction(user, 2, None if user < 4 else 1) for user in range(1, 12)]))
    assert "never:" in [line.split()[0] for line in unanswered.splitlines() if line]
    few = short(run_of([interaction(user, 2, 1) for user in range(1, 4)]))
    assert "few:" in [line.split()[0] for line in few.splitlines() if line]


@pytest.mark.parametrize(
    ("answers", "needs"),
    [(1, "p50 needs 2, p90 needs 10, p99 needs 100"), (2, "p90 needs 10, p99 needs 100"), (12, "p99 needs 100")],
)
def test_the_note_on_few_answers_has_each_quantile_that_the_table_has_not(answers: int, needs: str) -> None:
    text = short(run_of([interaction(user, 2, 1) for user in range(1, answers + 1)]))
    assert f"too few answers for this quantile: {needs}." in in_words(text)


def test_one_interaction_a_second_is_singular() -> None:
    rows = [interaction(1, 0, 1), interaction(2, 1, 1)]
    assert "1 interaction a second" in in_words(short(run_of(rows)))


def test_the_other_formats_have_everything(metered: Tables) -> None:
    for name in ("html", "md"):
        made = str(render(summarize(metered), metered, name))  # type: ignore[arg-type]
        assert "Who used the processors" in made
        assert "left out: the smallest" not in made
        assert "Conditions" in made
