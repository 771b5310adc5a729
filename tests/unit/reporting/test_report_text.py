"""The report on a terminal: the answer first, tables that fit, and words for a run that went wrong."""

import dataclasses
import re

import polars as pl
import pytest
from loadgo.documents.as_text import text_document
from loadgo.documents.formats import ReportFormat
from loadgo.measures.summary import summarize
from loadgo.records.prediction import PredictedFigure, Prediction
from loadgo.records.tables import Tables
from loadgo.reporting.document import report_document
from loadgo.reporting.report import render
from loadgo.reporting.words import answer
from loadgo.stats.resample import Interval
from support.printed_rows import without_spans
from support.synthetic import Work, closed_loop, empty_run, frame, interaction, run_of

SCRIPT = [Work("edit", 0.05), Work("compile", 0.4), Work("print", 0.02)]

AT_80 = """\
20 users; every line was answered: p90 1.27 s for `compile`, the slowest
command, and p90 978 ms over all commands. 3.98 interactions a second; the
processors were 26.6 % busy, 23.9 % for the users.
Trust: high. Lines were typed on time (20.0 µs late at p99); Little's law holds
within 3.8 %; no record lost; the host was quiet.

synthetic: 20 users, closed load, think exponential(2s), 30 passes, seed 1
testhost, kernel 6.1, 2 processors, 2026-11-21 01:37:05
Figures are of the 287 interactions of the steady phase (72.1 s); 85 of warm-up
and 228 of ramp-down are left out.

Response time
command        count       p50      p90      p90's 95 %      p99   failed
─────────────────────────────────────────────────────────────────────────
edit              96   74.1 ms   743 ms   215 ms–1.22 s      few        0
compile           97    371 ms   1.27 s   739 ms–2.07 s      few        0
print             94   67.6 ms   851 ms   304 ms–1.83 s      few        0

all commands     287    148 ms   978 ms   568 ms–1.84 s   2.33 s        0
few: too few answers for this quantile: p99 needs 100.
Not shown in 80 characters: p50's 95 %, p99's 95 %, mean. `COLUMNS=116` or
`--format html` shows all columns.

Used by one interaction, on average
command            CPU   CPU wait   page wait   disk wait   major   cost/10⁶
────────────────────────────────────────────────────────────────────────────
edit           53.6 ms     198 ms           0           0       0     $0.744
compile         324 ms     234 ms           0           0       0      $4.50
print          23.0 ms     282 ms           0           0       0     $0.320

all commands    135 ms     238 ms           0           0       0      $1.87
Not shown in 80 characters: user mode, system, faults, output.

Users' time
class                        time     share
───────────────────────────────────────────
thinking                 23.2 min    92.9 %
typing                          0     0.0 %
waiting for the system      107 s     7.1 %
driver late               5.74 ms     0.0 %

all                      24.9 min   100.0 %

Processors' time
category      time      share   of non-idle
───────────────────────────────────────────
user mode   27.6 s    19.43 %       72.99 %
system      10.2 s     7.19 %       27.01 %
softirq          0     0.00 %        0.00 %
iowait           0     0.00 %
idle         104 s    73.38 %

busy        37.8 s    26.62 %      100.00 %
all          142 s   100.00 %

Each processor's time
processor      busy      idle   user mode   system        all
─────────────────────────────────────────────────────────────
0           26.62 %   73.38 %     19.43 %   7.19 %   100.00 %
1           26.62 %   73.38 %     19.43 %   7.19 %   100.00 %

Who used the processors
who           time   of all time
────────────────────────────────
users       33.9 s       23.85 %
driver      142 ms        0.10 %
sampling   71.0 ms        0.05 %
others      3.72 s        2.62 %

busy        37.8 s       26.62 %

Own time of loadgo
what                      time   of all time   of busy time
───────────────────────────────────────────────────────────
driver                  142 ms        0.10 %         0.38 %
sampling and writing   71.0 ms        0.05 %         0.19 %

all of loadgo           213 ms        0.15 %         0.56 %

Time by user
user           CPU   of all time   CPU wait   page wait   disk wait
───────────────────────────────────────────────────────────────────
11          3.97 s        2.79 %     4.53 s           0           0
1           3.61 s        2.54 %     2.74 s           0           0
4           2.99 s        2.10 %     1.58 s           0           0
14          2.68 s        1.89 %     4.24 s           0           0
8           2.66 s        1.88 %     5.56 s           0           0
7           2.45 s        1.72 %     3.88 s           0           0
17          2.18 s        1.54 %     4.22 s           0           0
3           2.02 s        1.42 %     4.32 s           0           0
20          1.81 s        1.27 %     2.46 s           0           0
2           1.77 s        1.25 %     1.16 s           0           0
10 others   12.6 s        8.87 %     33.5 s           0           0

all 20      38.7 s       27.27 %     68.2 s           0           0

Processors  Others: the rest of the busy time, of kernel workers that move
            terminal bytes and of other processes. The kernel counts time in
            ticks, ± 40.0 ms here; the categories add up to 100.000 % of the
            wall time.
            Of non-idle: the share of all time except iowait and idle.
Own time    0.15 % of all time was loadgo's own: driver 0.10 %, sampling and
            writing 0.05 %.
Meters      Time by user is that of the users' interactions, without what ran
            between them.
Usage       CPU from cgroup v2, faults from taskstats, waits from taskstats.
Driver      Good: lateness p50 / p99 / max 20.0 µs / 20.0 µs / 20.0 µs (p99 at
            most 1.00 ms), 0.1 % of the host (at most 5.0 %), scheduling fifo
            10, the kernel answered FIFO 10.
Audit       Little's law, N = X(R + Z) = 3.98/s × (373 ms + 4.84 s): 20.8 users
            computed, 20.0 measured; holds within 3.8 %.
Cost        A user's hour is $0.00134 at $0.05 a CPU hour (the default tariff;
            an assumption: about what a virtual processor is let for). The
            table's costs are of 1,000,000 interactions.
Conditions  load average 0.10 0.20 0.30 before and 1.10 0.40 0.30 at the end; 1
            other logged in.
Sessions    20 logged out.
Lost        Nothing.
Note        Intervals hold the quantile in about 95 of 100 long runs: users, and
            stretches of time, are resampled. Without an interval, the run is
            too short for its waits, or has too few users or interactions.
"""

AT_120 = """\
20 users; every line was answered: p90 1.27 s for `compile`, the slowest command, and p90 978 ms over all commands. 3.98
interactions a second; the processors were 26.6 % busy, 23.9 % for the users.
Trust: high. Lines were typed on time (20.0 µs late at p99); Little's law holds within 3.8 %; no record lost; the host
was quiet.

synthetic: 20 users, closed load, think exponential(2s), 30 passes, seed 1
testhost, kernel 6.1, 2 processors, 2026-11-21 01:37:05
Figures are of the 287 interactions of the steady phase (72.1 s); 85 of warm-up and 228 of ramp-down are left out.

Response time
command        count       p50    p50's 95 %      p90      p90's 95 %      p99      p99's 95 %     mean   failed
────────────────────────────────────────────────────────────────────────────────────────────────────────────────
edit              96   74.1 ms   35.7–189 ms   743 ms   215 ms–1.22 s      few               –   252 ms        0
compile           97    371 ms    216–862 ms   1.27 s   739 ms–2.07 s      few               –   558 ms        0
print             94   67.6 ms   28.0–466 ms   851 ms   304 ms–1.83 s      few               –   305 ms        0

all commands     287    148 ms   79.1–466 ms   978 ms   568 ms–1.84 s   2.33 s   947 ms–2.51 s   373 ms        0
few: too few answers for this quantile: p99 needs 100.
–: no interval, since there is too little for one.

Used by one interaction, on average
command            CPU   user mode    system   CPU wait   page wait   disk wait   faults   major   output   cost/10⁶
────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
edit           53.6 ms     40.2 ms   13.4 ms     198 ms           0           0      100       0     80 B     $0.744
compile         324 ms      243 ms   81.0 ms     234 ms           0           0      101       0    160 B      $4.50
print          23.0 ms     17.3 ms   5.76 ms     282 ms           0           0      102       0    240 B     $0.320

all commands    135 ms      101 ms   33.7 ms     238 ms           0           0      101       0    159 B      $1.87

"""


def report(run: Tables, width: int = 100) -> str:
    """The report of `run` on a page of `width`."""
    return text_document(report_document(summarize(run)), width=width)


@pytest.mark.parametrize(("width", "page"), [(80, AT_80), (120, AT_120)])
def test_the_page_reads_as_it_should(width: int, page: str) -> None:
    assert report(closed_loop(20, 10, SCRIPT, think_s=5.0), width).startswith(page)
    assert len(page.splitlines()) > 20


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_page(width: int) -> None:
    for line in report(closed_loop(20, 10, SCRIPT, think_s=5.0), width).splitlines():
        assert len(line) <= width


@pytest.mark.parametrize("width", [60, 72, 80, 90, 100, 110, 120])
def test_a_narrow_page_leaves_columns_out_and_cuts_no_figure(width: int) -> None:
    run = closed_loop(20, 60, SCRIPT, think_s=5.0)
    odd = run.interactions.with_columns(
        cpu_user_ns=pl.col("cpu_user_ns") * 7 // 1000, bytes_out=pl.lit(6_543, pl.UInt64)
    )
    text = report(dataclasses.replace(run, interactions=odd), width)
    assert "…" not in text
    assert "CPU" in text
    assert "p90" in text


def test_the_page_is_plain_without_colour_and_the_same_with_it() -> None:
    summary = summarize(closed_loop(20, 10, SCRIPT))
    assert "\x1b" not in text_document(report_document(summary), width=80)
    assert "\x1b[" in text_document(report_document(summary), width=80, color=True)


def test_a_commands_name_cannot_speak_to_the_terminal() -> None:
    hostile = "\x1b]0;owned\x07\x9b31m[bold red]x\u202e\r\n"
    text = report(run_of([interaction(user, 2, 1, command=hostile) for user in range(1, 12)]), 120)
    assert not set(text) & set("\x1b\x07\x9b\r\u202e")
    assert "�]0;owned��31m[bold re" in text


def test_an_empty_run_is_answered_in_words() -> None:
    assert report(empty_run()).startswith("Nobody typed a line: there is nothing to report.")


def test_a_run_in_which_all_died_or_were_refused_says_so() -> None:
    run = run_of([interaction(user, 2, 1) for user in (1, 2)])
    for outcome, words in (("died", "all 2 sessions died"), ("refused", "all 2 log-ins were refused")):
        sessions = run.sessions.with_columns(outcome=pl.lit(outcome, pl.Categorical))
        gone = dataclasses.replace(run, interactions=run.interactions.clear(), sessions=sessions)
        assert words in report(gone).splitlines()[0]


def test_of_one_interaction_the_answer_is_its_response_time() -> None:
    text = report(run_of([interaction(1, 2, 1)]))
    assert text.startswith("1 user; every line was answered: the only response took 1.00 s.")


def test_a_run_without_usage_shows_dashes_and_why() -> None:
    run = run_of([interaction(user, 2, 1) for user in range(1, 12)], usage={"notes": ["no cgroup: mount cgroup2"]})
    text = report(run)
    assert max(line.count("–") for line in text.splitlines() if line.startswith("edit")) >= 4
    assert "–: not measured or not known, which is not zero" in text
    assert "no cgroup: mount cgroup2" in text
    assert "Unknown, since a charged quantity was not measured" in text


def test_lines_that_timed_out_are_in_the_answer_the_table_and_the_notes() -> None:
    rows = [interaction(user, 2, None if user < 4 else 1) for user in range(1, 12)]
    text = report(run_of(rows), 200)
    assert (
        "not everyone was well served: 3 lines timed out; no p90 over all commands: too many lines had no answer."
        in text
    )
    assert "timeout" in text
    assert "mean of answered" in text
    assert "mean of answered" not in report(run_of(rows[3:]), 200)
    assert "3 lines were never answered: they rank last in the quantiles" in text
    alone = report(run_of(rows[2:]), 200)
    assert "1 line was never answered: it ranks last in the quantiles, and is in no mean or maximum." in alone


def test_answers_that_nobody_confirmed_are_told_behind_the_response_times() -> None:
    run = run_of([interaction(user, 2, 1) for user in range(1, 12)])
    outcomes = pl.Series(["unconfirmed"] * 3 + ["ok"] * 8, dtype=pl.Categorical)
    text = report(dataclasses.replace(run, interactions=run.interactions.with_columns(outcome=outcomes)), 200)
    assert text.startswith("11 users; every line was answered: p90 ")
    assert ". 3 answers are unconfirmed: their ends are not certain. " in text.splitlines()[0]


def test_sampled_usage_is_said_to_be_sampled() -> None:
    run = run_of([interaction(user, 2, 1) for user in range(1, 12)], usage={"every": 10})
    assert "read at every 10th interaction of a user: means are of 0 interactions" in report(run, 200)


def test_conditions_and_sources_are_told() -> None:
    run = closed_loop(20, 10, SCRIPT)
    limit = {"memory_bytes": 256_000_000, "cpus": 1.0, "swap": "zram:1000000000"}
    text = report(dataclasses.replace(run, conditions=run.conditions | {"limit": limit}), 200)
    assert "Usage       CPU from cgroup v2, faults from taskstats, waits from taskstats." in text
    assert "load average 0.10 0.20 0.30 before and 1.10 0.40 0.30 at the end; 1 other logged in" in text
    assert "all users together held to memory 256 MB, 1 processor, paging to zram of 1.00 GB." in text
    assert "the kernel answered FIFO 10" in text


def test_no_command_is_called_the_slowest_of_all_when_others_have_too_few_samples() -> None:
    run = closed_loop(20, 30, SCRIPT)
    of_print = pl.col("command").cast(pl.String) == "print"
    seldom = (pl.col("user") == 1) & (pl.col("pass") % 5 == 0)
    few = dataclasses.replace(run, interactions=run.interactions.filter(~of_print | seldom))
    answer_text = answer(summarize(few))
    assert re.search(r": p90 (\S+ m?s) for `compile`, the slowest command, and p90 ", answer_text)
    assert " for `compile`, the slowest command, and p90 " in answer(summarize(run))


@pytest.mark.parametrize(("format", "name"), [("text", "`run`"), ("md", "`run`"), ("html", "<code>run</code>")])
def test_a_command_that_is_also_a_word_is_code_in_the_answer_of_every_format(format: ReportFormat, name: str) -> None:
    made = closed_loop(20, 30, [Work("edit", 0.05), Work("run", 0.4)], think_s=5.0)
    page = without_spans(str(render(summarize(made), made, format)))
    assert f" for {name}, the slowest command, and p90 " in " ".join(page.split())


def test_a_slow_command_that_is_too_rare_for_a_p90_is_named_as_the_slowest() -> None:
    often = [interaction(user, 2 + 3 * number, 0.2) for user in range(1, 6) for number in range(4)]
    seldom = [interaction(user, 20, 3, command="invoke") for user in range(1, 6)]
    text = answer(summarize(run_of([*often, *seldom])))
    assert "every line was answered: p90 " in text
    assert " over all commands; the slowest command is `invoke`: p50 3.00 s." in text


def test_the_answer_of_a_doubtful_fit_has_no_narrow_bracket() -> None:
    """The bracket is right only for a machine of the right form: beside a fit 79 % low it was quoted as ±4 %."""
    figure = PredictedFigure("", "response", 12e6, Interval(11.6e6, 12.5e6), Interval(0.97, 1.03), Interval(0.99, 1.01))
    prediction = Prediction(20, 0, ("edit.cpu mean",), (), (5,), {"steady": (figure,)})
    summary = dataclasses.replace(summarize(closed_loop(20, 30, SCRIPT)), prediction=prediction)
    assert "20 users, predicted: mean response 12.0 ms (11.6 ms to 12.5 ms). In brackets" in answer(summary)
    doubtful = answer(dataclasses.replace(summary, fit_warnings=("the mean response is 79 % too low",)))
    assert doubtful.startswith("20 users, predicted with a doubtful fit: mean response 12.0 ms. Do not rely on")
    assert "11.6 ms" not in doubtful


def test_a_run_that_ended_early_served_everyone_only_until_then() -> None:
    run = run_of([interaction(user, 2, 1) for user in range(1, 12)])
    stopped = dataclasses.replace(run, conditions=run.conditions | {"finished": True, "outcome": "stopped"})
    text = answer(summarize(stopped))
    assert text.startswith("The run ended early. 11 users; every line was answered until then: p90 ")
    seven = {"at_ns": 10**9, "user": None, "what": "record", "reason": "the disk was full", "count": 7}
    lossy = dataclasses.replace(stopped, lost=frame([seven], "lost"))
    assert "every line that was kept was answered until then" in answer(summarize(lossy))
    whole = dataclasses.replace(run, conditions=run.conditions | {"finished": True, "outcome": "done"})
    assert "every line was answered: p90 " in answer(summarize(whole))


def test_a_command_that_the_shell_does_not_find_is_told_though_its_status_is_accepted() -> None:
    missing = [interaction(user, 2, 0.001, command="frobnicate", exit_status=127) for user in range(1, 4)]
    found = [interaction(user, 4, 1, exit_status=1) for user in range(1, 12)]
    first = " ".join(report(run_of([*missing, *found]), 200).splitlines()[:3])
    assert first.startswith("Lines ended with exit status 127, with which a shell says that there is no such command:")
    assert "no such command: all 3 of `frobnicate`." in first
    assert "`status = 0` in the script" in first
    assert "--fail-if 'errors > 0'" in first
    some = run_of([*missing, *(interaction(user, 3, 1, command="frobnicate", exit_status=0) for user in (1, 2))])
    assert "3 of 5 of `frobnicate`" in report(some, 200).splitlines()[0]
    assert "exit status 127" not in report(run_of(found), 200)
