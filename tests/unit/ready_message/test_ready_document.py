"""Ready messages in all formats: the text's layout to the character, and the same figures in the others."""

import json
from dataclasses import replace

import pytest
from loadgo.measures.tariff import load_tariff
from loadgo.ready_message.ready import COLD_STAGES, ONLY_STAGE, Ready
from loadgo.running.command_run import CommandRun, Stage, Wait4Usage
from support.command_runs import command_run
from support.printed_rows import without_spans

ONE_RUN = """\
ls /: real 4.50 ms, CPU 4.03 ms (89.6 %), faults 106 minor, 0 major
Trust: moderate: one run cannot give an interval (`-n 6` does). What holds: it
did not wait for a processor for long.

  real                       4.50 ms    page faults, minor             106
  CPU                        4.03 ms    page faults, major               0
  CPU, user                  1.03 ms    memory, most             ≤ 50.0 MB
  CPU, system                3.00 ms    switches, voluntary              1
  CPU wait                    120 µs    switches, involuntary            0
  page wait                        0    cost of 1,000,000          $0.0560
  disk wait                        –

– not measured: disk wait.
note: delay accounting is off, and a note that is longer than a line of eighty
  characters goes on below
≤: 50.0 MB or less. The kernel's account of a command begins with loadgo's own
  memory, of that size.
CPU and CPU wait include the command's start as a copy of loadgo, some 0.6 ms of
  CPU. `loadgo ready -n 20 -- true` shows how much it is on this host: subtract
  that.
Cost: of 1,000,000 such runs at $0.05 a CPU hour (default, an assumption).
"""
NOTE = "delay accounting is off, and a note that is longer than a line of eighty characters goes on below"


def measured_run(stage: Stage = ONLY_STAGE, real_ns: int = 4_500_000) -> CommandRun:
    return command_run(
        stage=stage,
        real_ns=real_ns,
        cpu_user_ns=1_030_000,
        cpu_system_ns=3_000_000,
        faults_minor=106,
        ready_wait_ns=120_000,
        io_wait_ns=None,
        waited=Wait4Usage(1, 1, 106, 0, 1, 1, 0),
    )


def message(*runs: CommandRun) -> Ready:
    return Ready(("ls", "/"), runs, len(runs), {}, (NOTE,), 50_000_000, load_tariff(), None)


def test_one_run_has_two_figures_in_a_line() -> None:
    assert message(measured_run()).report() == ONE_RUN


def test_several_runs_have_a_row_for_each_figure() -> None:
    lines = message(*(measured_run(real_ns=1_000_000 * k) for k in range(1, 7))).report().splitlines()
    assert lines[1] == "Trust: moderate: the median real time is known only as 1.00–6.00 ms. What holds:"
    assert lines[4] == "                             median          95 % interval     least      most"
    assert lines[5] == "  real                      3.50 ms           1.00–6.00 ms   1.00 ms   6.00 ms"


def test_the_first_line_says_how_many_runs_failed() -> None:
    failed = [replace(measured_run(), exit_status=1, signal=None)] * 2
    some, every, single = (
        " ".join(message(*runs).report().split()) for runs in ([measured_run(), *failed], failed, failed[:1])
    )
    assert ", 3 runs, 2 of them failed (exit 1)" in some
    assert ", 2 runs, all failed (exit 1)" in every
    assert "0 major, exit 1 Trust: " in single


def test_a_command_that_failed_is_a_warning_above_its_times_in_every_format() -> None:
    """`exit 2` at the end of a line was overlooked: the times were taken for those of a command that works."""
    failed = replace(measured_run(), exit_status=2, signal=None)
    warning = "`ls /` failed (exit 2): these times are of failing, not of succeeding."
    alone = message(failed)
    assert alone.report().splitlines()[0] == warning
    assert json.loads(str(alone.report("json")))["warnings"][0] == warning
    for form, command in (("html", "<code>ls /</code>"), ("md", "`ls /`")):
        shown = without_spans(str(alone.report(form)))
        assert shown.index(warning.replace("`ls /`", command)) < shown.index("real 4.50 ms")
    assert "cost" not in alone.report().lower()
    assert "for long" not in alone.report()
    assert "Trust: low: the warnings above say why" in " ".join(alone.report().split())
    killed = replace(measured_run(), exit_status=None, signal=9)
    some = message(measured_run(), killed).report()
    assert " ".join(some.split()).startswith(
        "`ls /` failed in 1 of 2 runs (killed by SIGKILL): the times include these."
    )
    assert "failed" not in message(measured_run()).report()


def test_a_long_wait_for_a_processor_is_a_warning() -> None:
    waiting = [replace(measured_run(), ready_wait_ns=wait) for wait in (2_500_000, 2_700_000, 100_000)]
    text = " ".join(message(*waiting).report().split())
    said = "The command waited 2.50 ms for a processor, and took 4.50 ms of real time (medians): "
    assert text.startswith(said)
    assert "Each figure of the first line is a median." in text
    assert "waited" not in message(measured_run()).report()


def test_a_cold_round_has_a_line_and_a_column_for_each_kind_of_run() -> None:
    lines = message(*(measured_run(stage) for stage in COLD_STAGES)).report().splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == [f"ls /, {stage}" for stage in COLD_STAGES]
    assert lines[3].startswith("Trust: moderate: one run cannot give an interval")
    assert lines[6] == "                             cold first    warm first     following"


@pytest.mark.parametrize("format", ["text", "html", "md"])
def test_each_format_has_the_message_the_figures_and_the_remarks(format: str) -> None:
    shown = without_spans(message(measured_run()).report(format))
    for text in ("ls /: real 4.50 ms", "page faults, minor", "120 µs", "delay accounting is off"):
        assert text in shown


def test_json_has_the_runs_and_null_for_a_figure_that_was_not_measured() -> None:
    members = json.loads(message(measured_run()).report("json"))
    assert members["figures"]["as it is"]["real_ns"]["median"] == 4_500_000
    assert members["runs"][0]["io_wait_ns"] is None


def test_an_unknown_format_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ValueError, match="text, html, json, csv, md, svg, png"):
        message(measured_run()).report("pdf")
