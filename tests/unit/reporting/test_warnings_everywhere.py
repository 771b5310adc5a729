"""The warnings that stand over a run stand over everything that is made of it."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import loadgo
import pytest
from loadgo.attribution.measured_runs import speedup_of
from loadgo.documents.result import Result
from loadgo.measures.run_warnings import facts_in, facts_of, run_warnings
from loadgo.measures.summary import summarize
from loadgo.records.phases import stretch_of
from loadgo.records.runs import read_run
from loadgo.reporting.report import report
from support.small_machine import MACHINE, laid

LIVE_RUN = Path(__file__).parents[2] / "runs/reported/live-exact"
EARLY = "the run ended early (stopped): the figures cover what was done until then."
LOST = "7 records are lost: the figures cover those that were kept."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A good run, and one that was stopped and lost records."""
    folder = tmp_path_factory.mktemp("doubtful")
    for name in ("good", "doubtful"):
        shutil.copytree(LIVE_RUN, folder / name)
    description = folder / "doubtful" / "run.toml"
    text = description.read_text().replace('outcome = "done"', 'outcome = "stopped"')
    lost = '\n[[lost]]\nat_ns = 1\nwhat = "record"\nreason = "the disk was full"\ncount = 7\n'
    description.write_text(text + lost)
    return folder / "good", folder / "doubtful"


PAGES: dict[str, Callable[[Path, Path], str]] = {
    "report": lambda good, bad: str(report(bad, width=100)),
    "picture": lambda good, bad: str(report(bad, format="svg")),
    "picture of a result": lambda good, bad: str(read_run(bad).report("svg")),
    "picture of a comparison": lambda good, bad: str(loadgo.compare(good, bad).report("svg")),
    "compare": lambda good, bad: loadgo.compare(good, bad).report(width=100),
    "cost": lambda good, bad: loadgo.cost(bad).report(width=100),
    "cost of two": lambda good, bad: loadgo.cost([good, bad]).report(width=100),
    "cost --against": lambda good, bad: loadgo.cost_against(good, bad).report(width=100),
    "speedup": lambda good, bad: speedup_of({"": [good], "x": [bad]}).report(width=100),
    "fit": lambda good, bad: loadgo.fit(bad).report(width=100),
}
FIT_LOST = "7 records of these runs are lost"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_begins_with_the_warnings_of_its_runs(runs: tuple[Path, Path], page: str) -> None:
    shown = " ".join(PAGES[page](*runs).replace("</tspan>", " ").split())
    first = (
        shown[: shown.index("Charges for")] if page == "cost --against" else shown[: 20000 if "<svg" in shown else 1500]
    )
    lost = FIT_LOST if page == "fit" else LOST
    for warning in (EARLY, lost):
        assert warning.rstrip(".").lower() in _plain(first).lower()
    if page in ("compare", "cost of two", "cost --against", "speedup"):
        assert "doubtful" in first[: first.lower().index("ended early")], "the warning names its run"


def _plain(text: str) -> str:
    """The text without the markup of a picture, in one line."""
    inside, kept = False, []
    for sign in text:
        inside = sign == "<" or (inside and sign != ">")
        if not inside and sign != ">":
            kept.append(sign)
    return " ".join("".join(kept).split())


def test_the_warnings_of_a_run_are_the_same_with_and_without_its_summary(runs: tuple[Path, Path]) -> None:
    for run in runs:
        tables = loadgo.tables(run)
        assert run_warnings(facts_of(tables, stretch_of(tables))) == run_warnings(facts_in(summarize(tables)))


def test_costs_as_json_have_the_warnings_too(runs: tuple[Path, Path]) -> None:
    good, bad = runs
    costs, fairness = loadgo.cost(bad), loadgo.cost_against(good, bad)
    assert json.loads(costs.report("json"))["warnings"] == list(costs.warnings)
    assert len(costs.warnings) == 2
    assert all(line.startswith("doubtful: ") for line in json.loads(fairness.report("json"))["warnings"])


DOUBT = "The machine's fit is doubtful: its mean response is -54 % off."


@pytest.fixture(scope="module")
def doubtful(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """Results of a machine whose fit is doubtful."""
    folder = tmp_path_factory.mktemp("fitted")
    script, _ = laid(folder)
    machine = folder / "fitted.toml"
    load = '[[load]]\nusers = 4\nthink = "5s"\ncommands = ["compile"]\n'
    machine.write_text(f'{MACHINE}\n{load}\n[fit]\nruns = ["r"]\nwarnings = ["its mean response is -54 % off"]\n')
    slow = loadgo.Variant(script, on=str(machine))
    fast = loadgo.Variant(script, on=str(machine), set=("processors.speed=2",))
    return {
        "capacity": loadgo.capacity(script, target="p90 < 30s", on=str(machine), max_users=3, trials=3, longest="1min"),
        "ab": loadgo.ab(slow, fast, users=3, duration="1min", most_pairs=2, out=folder / "pairs"),
        "simulate": loadgo.simulate(machine, until="interactions=3000"),
    }


@pytest.mark.parametrize("name", ["capacity", "ab", "simulate"])
@pytest.mark.parametrize("format", ["text", "html", "md", "notebook"])
def test_a_doubtful_fit_stands_over_the_result_in_each_format(
    doubtful: dict[str, Result], name: str, format: str
) -> None:
    result = doubtful[name]
    shown = result._repr_html_() if format == "notebook" else str(result.report(format, width=100))
    words = " ".join(html.unescape(_plain(shown)).replace("\\", "").split())
    answer = " ".join(result._presentation().document().answer.split())
    assert words.index(DOUBT) < words.rindex(answer)


def test_a_doubtful_fit_stands_over_a_picture(doubtful: dict[str, Result]) -> None:
    capacity = doubtful["capacity"]
    picture = _plain(str(capacity.report("svg")))
    assert picture.index(DOUBT) < picture.index("Response time")
    assert capacity.chart().to_dict()["title"]["text"] == [DOUBT]


def test_the_warnings_of_a_comparison_stand_over_its_picture(runs: tuple[Path, Path]) -> None:
    picture = " ".join(_plain(str(loadgo.compare(*runs).report("svg")).replace("</tspan>", " ")).split())
    assert LOST.rstrip(".") in picture
