"""Lists in all formats, by the command line: the same records in each."""

import csv
import html
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import loadgo
import pytest
from loadgo.cli.app import app
from loadgo.documents.listing import Listing, listing, listing_presentation
from loadgo.documents.table import Table
from loadgo.measures.steady_responses import headline_of
from loadgo.notation.figures import duration, with_usual_times
from loadgo.records.runs import RunList, read_run
from loadgo.reporting.lists.ability_list import ability_answer
from loadgo.reporting.lists.run_list import MOST_RUNS, run_document, run_table
from loadgo.running.bundled import script_names
from loadgo.running.doctor import _OWN_HOST_ABILITIES, REACHED_ABILITY, Ability, AbilityList
from loadgo.running.scripts import script_text
from support import printed_rows
from support.places import TESTS
from typer.testing import CliRunner

LISTS = {
    "runs": ["runs"],
    "machines": ["machines"],
    "scripts": ["scripts"],
    "tariffs": ["cost", "--tariffs"],
    "abilities": ["doctor"],
}
TABLES = ("runs", "machines", "scripts", "tariffs")
"""The lists that are a table in each format. `doctor` has its abilities in sentences."""
ROWS: dict[str, Callable[[dict[str, Any]], tuple[object, ...]]] = {
    "runs": lambda run: (run["id"], run["name"], run["system"], run["users"], run["interactions"], run["outcome"]),
    "machines": lambda machine: (machine["name"], machine["title"], machine["processors"], machine["source"]),
    "scripts": lambda script: (script["name"], script["about"], script["lines"], script["think"]),
}
"""The row of a list that a JSON record stands for. Several records of a tariff share one row."""


@pytest.fixture(scope="module")
def abilities() -> list[Ability]:
    """The abilities of this host, looked at once: some counts and times in them differ from call to call."""
    return loadgo.doctor()


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch, abilities: list[Ability]) -> None:
    """Three runs of format 1 in the runs' folder, the first answer of `doctor`, and no width of texts."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("LOADGO_RUNS", str(TESTS / "runs" / "format-1"))
    monkeypatch.setattr(loadgo, "doctor", lambda **_: abilities)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def json_records(name: str) -> list[dict[str, Any]]:
    members = json.loads(printed(*LISTS[name], "--format", "json"))
    assert members["format"] == 1
    records: list[dict[str, Any]] = members[name]
    return records


def text_rows(name: str) -> list[list[str]]:
    table = printed(*LISTS[name]).rpartition("\n\n")[2]  # above it, some lists have an answer
    lines = re.sub(r"\n +", " ", table).rstrip().splitlines()  # a long cell has more lines below
    rows = [line for line in lines[2:] if not line.startswith(("few: ", "never: "))]  # below it, words are explained
    return [re.split(r" {3,}", line) for line in [lines[0], *rows]]


def without_blanks(rows: list[list[str]]) -> list[list[str]]:
    """The rows without blanks in their cells: a terminal breaks long words, such as paths, anywhere.

    Empty cells at a row's end are left out, since nothing of them is printed.
    """
    without = [["".join(cell.split()) for cell in row] for row in rows]
    return [row[: max((at for at, cell in enumerate(row, 1) if cell), default=0)] for row in without]


def markdown_rows(name: str) -> list[list[str]]:
    text = printed(*LISTS[name], "--format", "md")
    rows = printed_rows.markdown_rows(text)
    assert f"{len(rows) - 1:,} {name}" in text.splitlines()[0]
    return rows


def html_rows(name: str) -> list[list[str]]:
    page = printed(*LISTS[name], "--format", "html", "-o", "-")
    assert page.startswith("<!doctype html>")
    return printed_rows.html_rows(page)


@pytest.mark.parametrize("name", TABLES)
def test_each_list_has_the_same_rows_in_text_html_and_markdown(name: str) -> None:
    rows = html_rows(name)
    assert len(rows) > 3
    assert markdown_rows(name) == rows
    assert without_blanks(text_rows(name)) == without_blanks(rows)


@pytest.mark.parametrize("name", ROWS)
def test_each_row_is_a_record_of_the_json(name: str) -> None:
    rows = [list(map(str, ROWS[name](record))) for record in json_records(name)]
    assert len(rows) >= 3
    columns = (
        [0, 2, 3, 4, 5, 7] if name == "runs" else range(len(rows[0]))
    )  # a list of runs has the date and the p90 besides
    assert [[row[column] for column in columns] for row in html_rows(name)[1:]] == rows


def test_each_tariff_has_a_record_for_each_shift() -> None:
    records = json_records("tariffs")
    titles = dict.fromkeys((record["name"], record["title"], record["source"]) for record in records)
    rows = html_rows("tariffs")[1:]
    assert [(name, title, source) for name, title, _prices, source in rows] == list(titles)
    for name, _title, prices, _source in rows:
        shifts = [record for record in records if record["name"] == name]
        hours = [float(price) for price in re.findall(r"\$([\d.]+) a CPU hour", prices)]
        assert hours == [shift["cpu_hour"] for shift in shifts if shift["cpu_hour"]]
        assert len(shifts) == 1 or re.findall(r"shift (\w+):", prices) == [shift["shift"] for shift in shifts]


@pytest.mark.parametrize("name", ["runs", "machines", "scripts", "abilities"])
def test_the_csv_has_the_values_of_the_json(name: str) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(*LISTS[name], "--format", "csv"))))
    records = json_records(name)
    assert [list(row) for row in rows] == [list(record) for record in records]
    for row, record in zip(rows, records, strict=True):
        values = {key: ", ".join(value) if isinstance(value, list) else value for key, value in record.items()}
        assert row == {key: str(value) for key, value in values.items()}


def test_the_list_of_runs_has_what_the_folders_hold() -> None:
    ends = ((record["id"].rpartition("-")[2], record["outcome"], record["finished"]) for record in json_records("runs"))
    assert list(ends) == [("cut", "killed", False), ("ended", "done", True), ("killed", "killed", False)]
    assert {(run["name"], run["users"], run["interactions"]) for run in json_records("runs")} == {
        ("typical user", 2, 6)
    }


def test_the_lists_are_those_of_the_library() -> None:
    assert [record["name"] for record in json_records("machines")] == [machine.name for machine in loadgo.machines()]
    assert [record["name"] for record in json_records("abilities")] == [ability.name for ability in loadgo.doctor()]
    assert [record["id"] for record in json_records("runs")] == [run.id for run in loadgo.runs()]


def test_a_list_goes_into_a_file(tmp_path: Path) -> None:
    printed("machines", "--format", "json", "-o", str(tmp_path / "machines.json"))
    assert json.loads((tmp_path / "machines.json").read_text())["machines"]


def test_a_script_is_printed_as_it_is_in_its_file_and_can_be_run() -> None:
    text = printed("scripts", "typical-user")
    assert text == script_text("typical-user")
    assert text.startswith('# The "typical user" of the Multics performance log')
    assert [script.name for script in loadgo.scripts()] == script_names()
    typical = next(script for script in loadgo.scripts() if script.name == "typical-user")
    assert (typical.lines, typical.commands[:2], typical.needs) == (9, ("edit", "compile"), ("python3", "sed"))
    assert typical.about.startswith('The "typical user" of the Multics performance log (Saltzer')
    assert typical.about.endswith("in the order of its table")


def test_a_script_that_is_not_there_is_told_with_the_nearest_name() -> None:
    result = CliRunner().invoke(app, ["scripts", "typical-usr"])
    assert result.exit_code == 2
    assert "did you mean typical-user?" in " ".join(result.output.split())


def test_a_machine_file_is_toml_only() -> None:
    result = CliRunner().invoke(app, ["machines", "ctss", "--format", "json"])
    assert result.exit_code == 2
    assert "--format json" in " ".join(result.output.split())


def test_a_user_s_name_is_no_formula_in_csv() -> None:
    listed = Listing("runs", ("run",), (("=1+1",),), ("id",), ({"id": "=1+1"},))
    assert listing_presentation(listed).report("csv") == "id\n'=1+1\n"


def ability(name: str, state: Any, *texts: str) -> Ability:
    """An ability with its means, the reason why it is not exact, and the remedy."""
    return Ability(name, state, *(*texts, "", "", "")[:3])


SOME_ABILITIES = AbilityList(
    [
        ability("terminals", "exact", "3 of 4096 in use"),
        ability("timers", "estimated", "900 us late", "timers are late", "a less loaded host"),
        ability("swap", "absent", "", "only root may page to a new device", "run as root, or " + "word " * 30 + "end"),
        ability("meter: clock profile", "estimated", "by samples on a clock"),
        ability("meter: queue", "exact", "every event"),
    ]
)


def test_the_doctor_names_no_remedy_that_is_there() -> None:
    late = Ability("timers", "estimated", "900 µs late", "timers are late", "a less loaded host, or SCHED_FIFO")
    fifo = Ability("a driver that is never kept waiting (SCHED_FIFO)", "exact", "permitted", "", "")
    assert "remedy: a less loaded host\n" in str(AbilityList([late, fifo]).report("text"))
    assert "remedy: a less loaded host, or SCHED_FIFO\n" in str(AbilityList([late]).report("text"))
    assert json.loads(str(AbilityList([late, fifo]).report("json")))["abilities"][0]["remedy"] == "a less loaded host"


def test_the_doctor_says_first_what_is_missing_with_its_whole_remedy() -> None:
    assert (
        ability_answer(SOME_ABILITIES)
        == "3 of loadgo's 5 abilities are available here; 1 is missing, 1 is there in part."
    )
    assert ability_answer(SOME_ABILITIES[:1]) == "All of loadgo's 1 abilities are available here."
    there = AbilityList(SOME_ABILITIES, "on ssh://far", ("timers",))
    assert ability_answer(there).startswith("3 of the 5 abilities that loadgo uses there are available on ssh://far;")
    text = str(SOME_ABILITIES.report("text", width=80))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:8] == [
        "3 of loadgo's 5 abilities are available here; 1 is missing, 1 is there in part.",
        "",
        "Missing, or there in part",
        "· swap: not here",
        "    why: only root may page to a new device",
        "    remedy: run as root, or word word word word word word word word word word",
        "      word word word word word word word word word word word word word word word",
        "      word word word word word end",
    ]
    assert lines[8:] == [
        "· timers: in part",
        "    measured: 900 µs late",
        "    why: timers are late",
        "    remedy: a less loaded host",
        "",
        "Available: terminals; the meters of clock profile, run queue.",
        "`loadgo doctor --full` says how each of them is measured.",
    ]


def test_what_is_missing_for_one_reason_is_told_once_with_all_names() -> None:
    no_root = ("", "it takes root", "sudo loadgo …")
    missing = [
        ability(name, "absent", *no_root) for name in ("tracepoints", "meter: clock profile", "meter: total time")
    ]
    text = str(AbilityList([*missing, ability("swap", "absent", "", "it takes root", "run as root")]).report("text"))
    assert text.count("why: it takes root\n    remedy: sudo loadgo …") == 1
    assert "· tracepoints; the meters of clock profile, total time: not here\n    why: it takes root\n" in text
    assert "· swap: not here\n    why: it takes root\n    remedy: run as root\n" in text, "another remedy"


def test_the_doctor_of_several_hosts_says_which_lack_what() -> None:
    swap, late = SOME_ABILITIES[2], SOME_ABILITIES[1]
    lost = Ability(REACHED_ABILITY, "absent", "", "ssh://cedar: no connection", "")
    of_hosts = [("ash", SOME_ABILITIES[0]), ("ash", swap), ("birch", swap), ("birch", late), ("cedar", lost)]
    abilities = AbilityList(
        (replace(ability, host=host) for host, ability in of_hosts), "on the 3 hosts of hosts.toml", ("memory limits",)
    )
    assert abilities.unreached == ("cedar",)
    lines = str(abilities.report("text", width=300)).splitlines()
    assert lines[0] == (
        "None of the 3 hosts of hosts.toml has everything that loadgo uses there: "
        "cedar cannot be used, ash and birch lack something."
    )
    assert lines[3].startswith("· swap: not on ash and birch")
    assert f"· {REACHED_ABILITY}: not on cedar" in lines
    assert "    why: ssh://cedar: no connection" in lines
    assert "· timers: in part on birch" in lines
    well = AbilityList([replace(SOME_ABILITIES[0], host=host) for host in ("ash", "birch")], "on the 2 hosts of h.toml")
    assert ability_answer(well) == "All 2 hosts of h.toml have everything that loadgo uses there."


def test_the_doctor_in_full_says_how() -> None:
    rows = printed_rows.html_rows(str(SOME_ABILITIES.report("html", full=True)))
    assert rows == [
        ["available", "how"],
        ["terminals", "3 of 4096 in use"],
        ["meter: clock profile", "by samples on a clock"],
        ["meter: run queue", "every event"],
    ]
    assert "run as root" in str(SOME_ABILITIES.report("md", full=True))
    assert printed("doctor", "--full").count("\n") > printed("doctor").count("\n")


@pytest.mark.parametrize("format", ["text", "html", "md"])
def test_the_full_list_of_abilities_has_what_the_json_says_of_each(format: str) -> None:
    page = printed(*LISTS["abilities"], "--full", "--format", format, "-o", "-")
    shown = "".join(html.unescape(re.sub(r"<[^>]*>", "", page)).replace("\\", "").split())
    records = json_records("abilities")
    assert len(records) > 10
    for record in records:
        for words in (record["how"], record["why_not"], record["remedy"]):
            # A page has its own units of time where the stored text, which is made in Rust, has us; and code for its
            # backticks.
            text = with_usual_times(words).replace("`", "")
            assert "".join(text.split()) in shown.replace("`", ""), (record["name"], words)


def recorded_runs(count: int) -> RunList:
    """Runs of format 1 again and again, a minute apart."""
    (run,) = (run for run in loadgo.runs() if run.id.endswith("-ended"))
    began = datetime(datetime.now().year, 3, 1, 8, 0, tzinfo=UTC)
    return RunList(replace(run, id=f"run-{at:04}", started=began + timedelta(minutes=at)) for at in range(count))


def test_of_many_runs_the_last_are_listed_and_a_sentence_says_so() -> None:
    runs = recorded_runs(MOST_RUNS + 23)
    sentence, table = str(runs.report("text")).split("\n\n", 1)
    assert " ".join(sentence.split()) == (
        "The last 20 of 43 runs (43 done), the newest last. `loadgo runs --full` lists all."
    )
    assert [line.split()[0] for line in table.splitlines()[2:-1]] == [run.id for run in runs[-MOST_RUNS:]]
    assert table.splitlines()[-1].startswith("few: ")
    assert len(str(runs.report("text", full=True)).splitlines()) == len(runs) + 5
    assert len(runs.to_dict()["runs"]) == len(runs)


def test_no_runs_are_said_in_a_sentence() -> None:
    for form in ("text", "html", "md"):
        shown = str(RunList([]).report(form))
        assert "There are no runs yet" in shown
        assert "newest last" not in shown


def test_the_p90_of_a_busy_host_has_a_mark_where_the_remarks_have_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = iter([("30.6 ms", "INVALID, other work 97.6 %"), ("12.0 ms", ""), ("few", "other work 96.0 %")])
    monkeypatch.setattr("loadgo.reporting.lists.run_list._p90_and_remarks", lambda _run: next(figures))
    document = run_document(recorded_runs(3))
    (table,) = document.sections
    assert isinstance(table, Table)
    (p90,) = [column for column in table.columns if column.heading == "p90"]
    assert p90.cells == ("30.6 ms *", "12.0 ms", "few")
    assert document.answer.endswith(" One run was disturbed by other work on the host: the p90 has the mark *.")


def test_one_row_is_one_row() -> None:
    listed = Listing("rows", ("name",), (("x",),), ("name",), ({"name": "x"},))
    assert "**1 row**" in str(listing_presentation(listed).report("md"))


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_list_of_runs_fits_the_terminal_and_keeps_ids_dates_and_answers(width: int) -> None:
    runs = [replace(run, id=f"2026-03-01T08-00-00-{run.id}") for run in recorded_runs(3)]
    table = run_table(runs, ("1.00 s",) * len(runs), [""] * len(runs)).fitting(width)
    assert table.width <= width
    headings = [column.heading for column in table.columns]
    assert [heading for heading in headings if heading in ("run", "began", "p90", "outcome")] == [
        "run",
        "began",
        "p90",
        "outcome",
    ]
    assert table.columns[0].cells == tuple(run.id for run in runs)
    began = runs[0].started
    assert began is not None
    assert table.columns[1].cells[0] == f" 1 Mar {began.astimezone():%H:%M}"


def test_a_list_in_a_pipe_has_the_width_of_columns_where_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = RunList(replace(run, id=f"2026-03-01T08-00-00-{run.id}", name="n" * 40) for run in recorded_runs(3))
    records = [{"a": "x" * 20, "b": "word " * 30}]
    for columns, fits in (("80", True), ("", False)):
        monkeypatch.setenv("COLUMNS", columns)
        texts = [str(runs.report("text")), listing(("a", "b"), [tuple(record.values()) for record in records])]
        assert [max(map(len, text.splitlines())) <= 80 for text in texts] == [fits, fits]
        assert all(run.id in texts[0] for run in runs)


def test_the_p90_of_a_list_is_the_reports(tmp_path: Path) -> None:
    folder = tmp_path / "simulated"
    finished = loadgo.run("light", on="ctss", users=3, passes=3, out=folder)
    rows = headline_of(loadgo.tables(folder).interactions)
    everything = finished.summary.everything
    assert rows.p90.state == "measured"
    assert rows.p90.value_ns == everything.response.quantile("p90").value_ns
    assert (rows.errors, rows.counted) == (everything.outcomes.errors, everything.response.count)
    (row,) = str(RunList([read_run(folder)]).report("text")).splitlines()[4:]
    assert duration(rows.p90.value_ns) in row


def test_what_the_list_of_another_host_leaves_out_is_in_that_of_this_host(abilities: list[Ability]) -> None:
    assert set(_OWN_HOST_ABILITIES) <= {ability.name for ability in abilities}


def test_a_folder_without_runs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOADGO_RUNS", str(tmp_path / "elsewhere"))
    told = CliRunner().invoke(app, ["runs"])
    assert (told.exit_code, told.stdout) == (0, "")
    assert f"there are no runs in {tmp_path / 'elsewhere'} yet" in " ".join(told.stderr.split())
