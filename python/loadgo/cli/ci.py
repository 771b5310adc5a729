"""The options `--junit` and `--summary` of commands whose result is a check, for continuous integration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loadgo.cli.files import append_to_file, write_file
from loadgo.cli.output import check_files, file_of_option, outputs_are_one, print_error, try_each

if TYPE_CHECKING:
    from loadgo.comparison.compare import Comparison
    from loadgo.documents.as_junit import Check
    from loadgo.measures.fail_if_figures import ConditionResult
    from loadgo.measures.summary import Summary
    from loadgo.running.run import Run

JunitOption = Annotated[
    Path | None,
    typer.Option(
        "--junit",
        metavar="FILE",
        parser=file_of_option,
        help="Write each check as a test case to this file, in JUnit's XML.",
    ),
]
SummaryOption = Annotated[
    Path | None,
    typer.Option(
        "--summary",
        metavar="FILE",
        parser=file_of_option,
        help='Append a short summary in Markdown to this file: on GitHub, --summary "$GITHUB_STEP_SUMMARY".',
    ),
]


@dataclass(frozen=True)
class CheckFiles:
    """The files for the checks of a command. None is a file that was not asked for."""

    junit: Path | None
    summary: Path | None

    @property
    def wanted(self) -> bool:
        """Whether any file was asked for."""
        return self.junit is not None or self.summary is not None

    def check_writable(self, others: Mapping[str, Path | None]) -> None:
        """Raises `ValueError` with the remedy if a file cannot be written, or is one of `others` (by option).

        Commands call it before their work.
        """
        check_files({"--junit": self.junit, "--summary": self.summary}, others)

    def write(
        self,
        title: str,
        answer: Callable[[], tuple[str, Sequence[str]]],
        checks: Sequence[Check],
        seconds: float = 0.0,
    ) -> None:
        """Writes the files that were asked for, each even if the other fails. `answer` gives answer and warnings.

        `seconds` is the length of the run that was judged; 0 for a comparison, which runs nothing.
        """
        try_each(lambda: self._write_junit(title, checks, seconds), lambda: self._append_summary(title, answer, checks))

    def _write_junit(self, title: str, checks: Sequence[Check], seconds: float) -> None:
        from loadgo.documents.as_junit import junit_xml

        if self.junit is not None:
            write_file(self.junit, junit_xml(title, checks, seconds))

    def _append_summary(
        self, title: str, answer: Callable[[], tuple[str, Sequence[str]]], checks: Sequence[Check]
    ) -> None:
        from loadgo.documents.as_junit import checks_summary

        if self.summary is not None:
            sentence, warnings = answer()
            append_to_file(self.summary, checks_summary(title, sentence, warnings, checks))

    def write_run(self, summary: Summary, checks: Callable[[], Sequence[Check]]) -> None:
        """Writes the checks of a run, with its answer and its warnings, if a file was asked for."""
        if not self.wanted:
            return
        from loadgo.reporting import words

        title = f"loadgo: {summary.run.name or 'a run'}"
        seconds = summary.run.wall_s or 0.0
        self.write(title, lambda: (words.answer(summary), words.warnings(summary)), checks(), seconds)

    def write_comparison(self, comparison: Comparison, worse: Sequence[str]) -> None:
        """Writes the results of the thresholds `worse` of a comparison, with its answer and its warnings.

        Does nothing if no file was asked for.
        """
        if not self.wanted:
            return
        from loadgo.comparison.document import comparison_document

        def answer() -> tuple[str, Sequence[str]]:
            document = comparison_document(comparison)
            return document.answer, document.warnings

        title = f"loadgo: {comparison.b.name} against {comparison.a.name}"
        self.write(title, answer, comparison_checks(comparison, worse))


def condition_checks(summary: Summary) -> list[Check]:
    """The `--fail-if` conditions of a run: one that holds fails."""
    from loadgo.documents.as_junit import Check, CheckVerdict

    verdicts: dict[bool | None, CheckVerdict] = {True: "failed", False: "passed", None: "cannot tell"}
    return [
        Check(f"fails if {result.condition or result.text}", verdicts[result.holds], result.text, result.is_open)
        for result in summary.fail_if
    ]


def run_checks(finished: Run) -> list[Check]:
    """The conditions of a run, and what else makes it bad: its end, the driver, and lost records."""
    from loadgo.documents.as_junit import Check
    from loadgo.measures.run_warnings import driver_faults
    from loadgo.notation.figures import counted

    summary = finished.summary
    faults = " ".join(driver_faults(summary.driver, summary.other_work))
    lost = sum(loss.count for loss in summary.losses)
    valid, done = summary.driver.valid, finished.outcome == "done"
    return [
        *condition_checks(summary),
        Check("the run came to its end", "passed" if done else "failed", f"its outcome is {finished.outcome}"),
        Check(
            "the driver was in time",
            "passed" if valid else "failed",
            "the run measures the system" if valid else faults,
        ),
        Check(
            "no records were lost",
            "failed" if lost else "passed",
            f"{counted(lost, 'record')} {'was' if lost == 1 else 'were'} lost",
        ),
    ]


def comparison_checks(comparison: Comparison, worse: Sequence[str]) -> list[Check]:
    """The results of the thresholds `worse`, and of the figures that were judged as a prediction."""
    from loadgo.comparison.compare import thresholds_of
    from loadgo.documents.as_junit import Check, CheckVerdict

    verdicts: dict[bool | None, CheckVerdict] = {True: "failed", False: "passed", None: "cannot tell"}
    thresholds = [threshold for text in worse for threshold in thresholds_of(text)]
    checks = [
        Check(
            f"{threshold.measure} not worse by more than {threshold.percent:g} %",
            verdicts[one.failed],
            one.text,
            one.is_open,
        )
        for threshold, one in zip(thresholds, comparison.findings, strict=True)
    ]
    if comparison.judged:
        inside = sum(figure.judgement == "inside" for figure in comparison.judged)
        within = f"within {100 * comparison.judged[0].within:g} %"
        text = f"{inside} of {len(comparison.judged)} figures are right {within}"
        checks.append(Check(f"the prediction is right {within}", "passed" if comparison.predicted else "failed", text))
    return checks


def print_failed_conditions(results: Iterable[ConditionResult], *, shown: bool) -> None:
    """Prints the conditions that failed, unless a report in the same place has `shown` them."""
    is_read = shown and outputs_are_one()
    for result in results:
        if result.failed and not is_read:
            print_error(f"failed: {result.text}")
