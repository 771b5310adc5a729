"""Documents of a user's own: little is needed, figures are as precise as written, and mistakes have a place."""

from fractions import Fraction
from pathlib import Path

import pytest
from loadgo.errors import LoadgoError, Mistake
from loadgo.published.catalogue import DOCUMENTS_FOLDER, document
from loadgo.published.consistency import find_contradictions
from loadgo.published.own_file import read_own_document
from support.own_figures import AFTER, SMALLEST, WHOLE, written


def findings(folder: Path, text: str) -> dict[str, tuple[float, float]]:
    """The two values of the first failure of each relation that does not hold."""
    found = find_contradictions(read_own_document(written(folder, text)))
    return {one.relation.name: (one.failures[0].left, one.failures[0].right) for one in found}


def test_three_lines_are_a_document_that_is_called_like_its_file(tmp_path: Path) -> None:
    own = read_own_document(written(tmp_path, SMALLEST, "the old host.toml"))
    assert (own.name, own.title, own.by) == ("the-old-host", "the-old-host", "")
    assert own.path == own.spec == str(tmp_path / "the old host.toml")
    assert {key: figure.text for key, figure in own.figures.items()} == {
        "the-old-host/sides/interactions/before": "4420",
        "the-old-host/sides/cpu_s/before": "14213",
    }
    assert own.sides["before"]["cpu_s"] == "{sides/cpu_s/before}"


def test_a_number_is_as_precise_as_it_is_written(tmp_path: Path) -> None:
    own = read_own_document(written(tmp_path, SMALLEST.replace("14213", "14213.50")))
    figure = own.figures["before/sides/cpu_s/before"]
    assert (figure.text, figure.number.low, figure.number.low_half) == (
        "14213.50",
        Fraction(142135, 10),
        Fraction(1, 200),
    )


def test_a_total_time_table_without_contradiction_has_none(tmp_path: Path) -> None:
    assert findings(tmp_path, WHOLE) == {}
    assert findings(tmp_path, AFTER) == {}


def test_parts_that_are_not_all_of_the_time_are_found(tmp_path: Path) -> None:
    found = findings(tmp_path, WHOLE.replace("53.33", "63.33"))
    assert found == {"total time of before": (110.0, 100.0)}


def test_parts_add_up_to_the_total_that_is_printed(tmp_path: Path) -> None:
    partial = SMALLEST + "[sides.before.time]\nuser = 40.1\nsystem = 20.2\ntotal = {total}\n"
    assert findings(tmp_path, partial.replace("{total}", "60.3")) == {}
    assert findings(tmp_path, partial.replace("{total}", "61.3")) == {"total time of before": (60.3, 61.3)}


def test_idle_parts_add_up_to_the_idle_time(tmp_path: Path) -> None:
    found = findings(tmp_path, WHOLE.replace("idle             = 3.19", "idle = 4.19"))
    assert found == {"idle time of before": (4.19, 3.19)}


@pytest.mark.parametrize(("cpu", "is_possible"), [("14500", True), ("14504.1", True), ("14510", False)])
def test_no_more_processor_time_is_charged_than_the_processors_were_busy(
    tmp_path: Path, cpu: str, is_possible: bool
) -> None:
    found = findings(tmp_path, WHOLE.replace("14213", cpu))
    assert (found == {}) == is_possible
    if not is_possible:
        assert found["processor time of before"] == (14510.0, pytest.approx(14982 * 0.9681))


def test_without_a_table_processor_time_is_at_most_the_elapsed_time_of_the_processors(tmp_path: Path) -> None:
    text = SMALLEST + "elapsed_s = 7000\nprocessors = {}\n"
    assert findings(tmp_path, text.format(3)) == {}
    assert findings(tmp_path, text.format(2)) == {"processor time of before": (14213.0, 14000.0)}


@pytest.mark.parametrize(("limit", "fails"), [("<= 3.4", False), ("<= 3", True), ("= 3.316", False), ("= 3.4", True)])
def test_relations_of_the_file_are_checked_beside_the_identities(tmp_path: Path, limit: str, fails: bool) -> None:
    fault_ms = "{sides/elapsed_s/before} * {sides/time/page fault/before} * 10 / {sides/counts/page fault/before}"
    found = findings(tmp_path, f'{WHOLE}[[relations]]\nsays = "A fault takes 3 ms."\nclaim = "{fault_ms} {limit}"\n')
    assert list(found) == (["A fault takes 3 ms"] if fails else [])


def test_a_side_may_refer_to_tables_whose_columns_are_names_and_whose_cells_are_numbers(tmp_path: Path) -> None:
    text = """
[[tables]]
name = "results"
columns = ["old", "new"]
rows = [{ name = "cpu", unit = "s", cells = [14213, "4,860"] }, { name = "lines", cells = [4420, 4420] }]
[sides.old]
interactions = "{results/lines/old}"
cpu_s = "{results/cpu/old}"
[sides.new]
interactions = "{results/lines/new}"
cpu_s = "2 * {results/cpu/new} / 2"
"""
    own = read_own_document(written(tmp_path, text))
    assert {key: float(figure.number.low) for key, figure in own.figures.items()} == {
        "before/results/cpu/old": 14213.0,
        "before/results/cpu/new": 4860.0,
        "before/results/lines/old": 4420.0,
        "before/results/lines/new": 4420.0,
    }


@pytest.mark.parametrize("name", [path.stem for path in sorted(DOCUMENTS_FOLDER.glob("*.toml"))])
def test_a_copy_of_a_bundled_document_is_one_of_a_user(name: str) -> None:
    bundled, own = document(name), read_own_document(DOCUMENTS_FOLDER / f"{name}.toml")
    of_both, of_file = (
        {key: (figure.text, figure.number, figure.unit, figure.line) for key, figure in each.figures.items()}
        for each in (bundled, own)
    )
    assert {key: figure for key, figure in of_file.items() if f"{name}/sides/" not in key} == of_both
    found = {finding.relation.name for finding in find_contradictions(bundled)}
    assert found <= {finding.relation.name for finding in find_contradictions(own)}


MISTAKES = {
    "no TOML": ("[sides.before\n", "line 1, column 14: this is not TOML"),
    "an unknown key of a side": (
        SMALLEST + "elapsd_s = 3\n",
        "line 4, column 1: elapsd_s is no key of [sides.before]; did you mean elapsed_s?",
    ),
    "an unknown key": (
        "side = 3\n",
        "line 1, column 1: side is no key of a document (docs/published.md); did you mean sides?",
    ),
    "a negative number": (
        SMALLEST.replace("14213", "-14213"),
        "line 3, column 1: cpu_s is -14213, and must be from 0 to 1,000,000,000,000,000",
    ),
    "a zero": (
        SMALLEST.replace("4420", "0"),
        "line 2, column 1: interactions is 0, and must be more: leave it out where it is not known",
    ),
    "too much": (SMALLEST.replace("14213", "1e16"), "line 3, column 1: cpu_s is 1e+16, and must be from 0"),
    "no number": (
        SMALLEST.replace("14213", "true"),
        "line 3, column 1: cpu_s = true is no number; write a number, such as 14213",
    ),
    "nothing finite": (SMALLEST.replace("14213", "nan"), "line 3, column 1: cpu_s = NaN is no number"),
    "no number that a decimal holds": (
        SMALLEST.replace("14213", "1e99999999999999999999"),
        "line 3, column 1: cpu_s = Infinity is no number",
    ),
    "a text that is no number": (
        SMALLEST.replace("14213", '"14,213 sec"'),
        "line 3, column 1: cpu_s cannot be read: the claim '14,213 sec' has no meaning",
    ),
    "too many decimals": (SMALLEST.replace("14213", "0.1234567890123456"), "cpu_s has more than 15 decimals"),
    "an expression that divides by 0": (
        SMALLEST.replace("14213", '"1 / 0"'),
        "line 3, column 1: cpu_s: '1 / 0' has no value",
    ),
    "an expression below 0": (
        SMALLEST.replace("14213", '"1 - 3"'),
        "line 3, column 1: cpu_s is -2, and must be from 0",
    ),
    "a cell that there is not": (
        SMALLEST.replace("14213", '"{results/cpu/old}"'),
        "line 3, column 1: cpu_s: a claim names results/cpu/old, and the document has no such figure",
    ),
    "more than all of the time": (
        WHOLE.replace("53.33", "153.33"),
        "line 8, column 1: user is 153.33, and must be percent of all time, from 0 to 100",
    ),
    "a negative share": (
        WHOLE.replace("53.33", "-1"),
        "line 8, column 1: user is -1, and must be percent of all time, from 0 to 100",
    ),
    "a share that is no number": (WHOLE.replace("20.35", "[20]"), "line 9, column 2: page fault = [20] is no number"),
    "a table that is no table": (
        SMALLEST + "time = 3\n",
        "line 4, column 1: time is a table: write [sides.before.time], and its numbers below",
    ),
    "sides that are no tables": ("sides = 3\n", "line 1, column 1: sides are tables: write [sides.before]"),
    "a side that is no table": (
        "[sides]\nbefore = 3\n",
        "line 2, column 1: a side is a table: write [sides.before], and its keys below",
    ),
    "a name with a sign of patterns": (
        '[sides."a*"]\ninteractions = 1\n',
        "line 1, column 9: 'a*' is no name of a figure",
    ),
    "a title that is no text": ("title = 3\n", "line 1, column 1: title must be a text, not 3"),
    "a name that is a path": (
        'name = "a/b"\n',
        "line 1, column 1: a document's name has letters, digits, . _ and - alone",
    ),
    "notes that are no list": (SMALLEST + 'notes = "x"\n', "line 4, column 1: notes are a list of texts"),
    "a table without rows": (
        '[[tables]]\nname = "costs"\ncolumns = ["a"]\n',
        "line 2, column 8: rows is missing in tables costs",
    ),
    "a row without cells": (
        '[[tables]]\nname = "costs"\ncolumns = ["a"]\nrows = [{ name = "one" }]\n',
        "line 4, column 18: cells is missing in rows one",
    ),
    "a cell that is a list": (
        '[[tables]]\nname = "costs"\ncolumns = ["a"]\nrows = [{ name = "one", cells = [[]] }]\n',
        "a cell of row one is neither a text nor a number",
    ),
    "a cell below 0": (
        '[[tables]]\nname = "costs"\ncolumns = ["a"]\nrows = [{ name = "one", cells = ["-3"] }]\n',
        "a cell of row one is -3: numbers of a document are not below 0",
    ),
    "a cell that is no finite number": (
        '[[tables]]\nname = "costs"\ncolumns = ["a"]\nrows = [{ name = "one", cells = [inf] }]\n',
        "one = Infinity is no number",
    ),
    "a table of the sides' name": (
        '[[tables]]\nname = "sides"\ncolumns = []\nrows = []\n',
        "line 2, column 1: a table cannot be called sides",
    ),
    "too few cells": (
        '[[tables]]\nname = "costs"\ncolumns = ["a", "b"]\nrows = [{ name = "one", cells = [1] }]\n',
        "row one of before/costs has 1 cells for 2 columns",
    ),
    "a claim that compares nothing": (
        SMALLEST + '[[relations]]\nclaim = "{sides/cpu_s/before}"\n',
        "line 5, column 10: relation {sides/cpu_s/before}: the claim '{sides/cpu_s/before}' compares nothing",
    ),
    "a claim of a cell that there is not": (
        SMALLEST + '[[relations]]\nname = "one"\nclaim = "{costs/one/a} = 1"\n',
        "line 6, column 10: relation one: a claim names costs/one/a, and the document has no such figure",
    ),
    "a relation without a claim": ('[[relations]]\nname = "one"\n', "claim is missing in relations one"),
    "rows of a table that there is not": (
        '[sides.a]\nrows = { table = "t", cpu = "c" }\n',
        "line 2, column 1: rows: there is no table t; there are none",
    ),
    "rows without a column": (
        '[sides.a]\nrows = { table = "t" }\n',
        "line 2, column 1: rows names a table and its columns",
    ),
    "conditions of a table that there is not": (
        SMALLEST + 'conditions = "t/*/c"\n',
        "line 4, column 1: conditions: t/*/c is no column TABLE/*/COLUMN of a table",
    ),
    "units that are no texts": (
        '[[passages]]\ntext = "{a:3} lines"\nunits = { a = 3 }\n',
        "line 3, column 1: units must be a table of texts",
    ),
    "a placeholder that is no text": (
        '[[relations]]\nclaim = "1 = SIDE"\nSIDE = 3\n',
        "line 3, column 1: SIDE must be a text or a list of texts, not 3",
    ),
    "a script": (
        'name = "x"\nlines = [{ type = "ls" }]\n',
        "line 2, column 1: this is a script: run it (`loadgo run {path}`), and name the run; here a document",
    ),
    "a machine": (
        'title = "x"\n[processors]\ncount = 1\n',
        "line 2, column 2: this is a simulated machine: run a script on it (`loadgo run SCRIPT --on {path}`)",
    ),
    "a tariff": ('source = "x"\ncpu_hour = 3\n', "line 2, column 1: this is a tariff"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_has_its_file_its_place_and_a_remedy(tmp_path: Path, mistake: str) -> None:
    text, said = MISTAKES[mistake]
    path = written(tmp_path, text)
    with pytest.raises(LoadgoError) as caught:
        read_own_document(path)
    assert str(caught.value).startswith(str(path))
    assert said.replace("{path}", str(path)) in str(caught.value)


def test_a_mistake_knows_its_file_and_place(tmp_path: Path) -> None:
    path = written(tmp_path, SMALLEST + "elapsd_s = 3\n")
    with pytest.raises(Mistake) as caught:
        read_own_document(path)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 4, 1)


def test_what_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no file .*absent\.toml, and no run of this name"):
        read_own_document(tmp_path / "absent.toml")
    with pytest.raises(ValueError, match="is no regular file"):
        read_own_document(tmp_path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'title = "caf\xe9"\n')
    with pytest.raises(ValueError, match="byte 13 of the file is not UTF-8"):
        read_own_document(latin)
