"""The report of a likeness: the answer with the worst figures stands first, and the details behind lose nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import loadgo
import pytest
from loadgo.observation.likeness.results import Likeness
from loadgo.observation.likeness.words import difference_in_words, interval_in_words
from support.made_likeness import Planted, made_observation, made_run

PAGE_CHARS = 80


@pytest.fixture(scope="module")
def likenesses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Likeness]:
    """A run of the same laws, and one with other processor times and think times."""
    place = tmp_path_factory.mktemp("report")
    made_observation(place)
    script = place / "monday.toml"
    laws = {"same": Planted(), "slower": Planted(cpu=1.3, think=1.5)}
    return {
        name: loadgo.likeness(script, made_run(place / name, script, planted=planted)) for name, planted in laws.items()
    }


def table_rows(report: str, title: str) -> list[str]:
    """The lines of a table's body."""
    lines = report.split(f"\n{title}\n", 1)[1].split("\n")
    start = next(at for at, line in enumerate(lines) if line.startswith("──")) + 1
    return [line for line in lines[start : start + 20] if line]


def test_the_answer_names_the_planted_differences_the_furthest_first(likenesses: dict[str, Likeness]) -> None:
    answer = likenesses["slower"].report(width=PAGE_CHARS).split("Responses and rates")[0]
    words = " ".join(answer.split())
    assert words.startswith("The run is not like what was observed: ")
    assert words.count(". ") == 1  # two sentences
    think, cpu = words.index("think time of heavy users"), words.index("the mean processor time of `build` (heavy), +3")
    assert think < cpu
    assert "test" not in words.replace("`test` of heavy users", "")  # what was not planted is not named


def test_the_short_report_fits_a_page_of_80_characters(likenesses: dict[str, Likeness]) -> None:
    for likeness in likenesses.values():
        report = likeness.report(width=PAGE_CHARS)
        assert max(map(len, report.splitlines())) <= PAGE_CHARS
        assert len(report.splitlines()) <= 65
        for title in ("What is alike", "Furthest from what was observed"):
            assert all("   " in row for row in table_rows(report, title)[:6])  # no cell is broken letter by letter


def test_the_counts_by_kind_are_those_of_the_figures(likenesses: dict[str, Likeness]) -> None:
    likeness = likenesses["slower"]
    rows = table_rows(likeness.report(width=PAGE_CHARS), "What is alike")
    counts = {row[:28].strip(): [int(count) for count in row[28:].split()] for row in rows[:13]}
    for kind, measure in (("processor time", "processor time"), ("response time", "response time")):
        seen = Counter(row.verdict for row in likeness.figures if row.measure == measure)
        assert counts[kind] == [seen["alike"], seen["unclear"], seen["differs"], seen["few"]]
    all_rows = [*(row for row in likeness.figures if row.depends_on == "script"), *likeness.mixes]
    seen = Counter(row.verdict for row in all_rows)
    assert counts["all of the script"] == [seen["alike"], seen["unclear"], seen["differs"], seen["few"]]


def test_the_full_report_has_each_figure_with_its_interval(likenesses: dict[str, Likeness]) -> None:
    likeness = likenesses["slower"]
    report = likeness.report(width=200, full=True)
    for figure in likeness.figures:
        assert any(
            difference_in_words(figure) in line and interval_in_words(figure) in line for line in report.splitlines()
        )
    assert all(gap.figure in report for gap in (*likeness.not_compared, *likeness.not_modelled))
    assert report.count("distance ") >= len([row for row in likeness.distributions if row.command])


def test_a_narrow_full_report_has_the_mean_the_p90_and_the_distance(likenesses: dict[str, Likeness]) -> None:
    report = likenesses["slower"].report(width=PAGE_CHARS, full=True)
    assert max(map(len, report.splitlines())) <= PAGE_CHARS
    build = [row.split() for row in table_rows(report, "Processor time") if row.startswith("build")]
    assert [row[2] for row in build] == ["mean", "p90", "distance"]


def test_a_run_that_is_alike_says_how_many_figures_are(likenesses: dict[str, Likeness], tmp_path: Path) -> None:
    words = " ".join(likenesses["same"].report(width=PAGE_CHARS).split())
    assert words.startswith("The run is like what was observed: of 34 figures ")
    page = likenesses["same"].report("html")
    assert isinstance(page, str)
    assert "What is alike" in page
    assert "Furthest from what was observed" not in page  # a page has all figures
