"""Files with printed figures of a user's own as sides of a comparison: with each other, with runs, with documents."""

import json
import os
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.comparison.compare import compare, side_of
from support.command_line import typed
from support.own_figures import AFTER, SMALLEST, WHOLE, written
from support.small_machine import laid


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of the smallest sides and of whole ones."""
    written(tmp_path, SMALLEST)
    written(tmp_path, SMALLEST.replace("14213", "4860"), "after.toml")
    written(tmp_path, WHOLE, "whole-before.toml")
    written(tmp_path, AFTER, "whole-after.toml")
    return tmp_path


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the small machine, in a folder that is called like a file."""
    folder = tmp_path_factory.mktemp("own")
    laid(folder)
    machine = str(folder / "small-machine.toml")
    loadgo.run(folder / "small.toml", on=machine, users=6, passes=4, seed=1, out=folder / "run.toml")
    return folder


def test_interactions_and_processor_seconds_are_enough(folder: Path) -> None:
    comparison = compare(folder / "before.toml", folder / "after.toml")
    cpu = comparison.rows.whole["cpu"]
    assert (cpu.before, cpu.after) == pytest.approx((14213e9 / 4420, 4860e9 / 4420))
    assert (cpu.verdict, cpu.interval) == ("lower", None)
    assert (comparison.a.name, comparison.b.name) == ("before.toml", "after.toml")
    assert comparison.rows.whole["throughput"].change is None


def test_the_page_says_in_plain_words_what_single_figures_cannot_tell(folder: Path) -> None:
    text = " ".join(compare(folder / "before.toml", folder / "after.toml").report(width=120, full=True).split())
    assert "B against A, for a mean interaction: CPU is lower (−65.8 %)." in text
    assert "Conditions are not compared: before.toml and after.toml state none." in text
    assert "printed figures have no intervals, so chance may explain any of the changes" in text
    assert "A printed table has neither." in text
    assert "a mean interaction is over all interactions of a side, in the mix that it had" in text
    assert not {"better", "worse", "no difference"} & set(text.split())


def test_a_whole_table_is_taken_apart_as_a_bundled_one_is(folder: Path) -> None:
    own = compare(folder / "whole-before.toml", folder / "whole-after.toml")
    factors = {link.name: link.factor for link in own.chains[0].links}
    assert factors == pytest.approx({"work": 2.0385, "overhead": 1.4529, "idle": 0.9224}, abs=2e-4)
    assert own.rows.whole["throughput"].relative == pytest.approx(14982 / 5484 - 1)
    assert own.rows.whole["faults"].before == pytest.approx(919_474 / 4420)
    assert "B against A, for a mean interaction: elapsed −63.4 %; CPU −65.8 %; cost, shift 1 −65.6 %." in own.report(
        width=120
    )


def test_a_total_of_idle_time_is_not_counted_twice(folder: Path) -> None:
    account = side_of(folder / "whole-before.toml").accounts[0]
    assert "idle" not in account.time_ns
    assert sum(account.time_ns.values()) == pytest.approx(14982e9)


def test_shares_are_of_the_time_of_all_processors(folder: Path) -> None:
    account = side_of(written(folder, WHOLE.replace("processors   = 1", "processors = 2"))).accounts[0]
    assert sum(account.time_ns.values()) == pytest.approx(2 * 14982e9)


def test_a_table_without_its_time_is_checked_and_not_compared(folder: Path) -> None:
    side = side_of(written(folder, WHOLE.replace("processors   = 1\n", "")))
    assert side.accounts[0].time_ns == {}
    assert side.notes == (
        "Its total time table is checked and not compared: "
        "without processors its shares cannot be turned into seconds.",
    )


@pytest.mark.parametrize("is_first", [True, False])
def test_a_run_is_compared_by_its_mean_interaction(folder: Path, room: Path, is_first: bool) -> None:
    run, own = room / "run.toml", folder / "whole-before.toml"
    comparison = compare(*((own, run) if is_first else (run, own)))
    whole = comparison.rows.whole
    cpu, throughput = whole["cpu"], whole["throughput"]
    measured = side_of(run).rows["cpu"].mean()
    printed = 14213e9 / 4420
    assert (cpu.before, cpu.after) == pytest.approx((printed, measured) if is_first else (measured, printed))
    assert (throughput.before if is_first else throughput.after) == pytest.approx(4420 / 14982)
    assert whole["response"].verdict == "not known"
    assert {difference.interval for difference in whole.values()} == {None}
    assert {difference.verdict for difference in whole.values()} <= {"higher", "lower", "not known"}
    assert comparison.conditions == ()
    assert "B against A, for a mean interaction: elapsed" in comparison.report(width=120)


def test_a_file_is_compared_with_columns_of_published_documents(folder: Path) -> None:
    totals = compare(folder / "whole-before.toml", "csr-rfc-20:6180")
    assert totals.rows.whole["cpu"].relative == pytest.approx(4860 / 14213 - 1)
    lines = compare(folder / "before.toml", "mpl-16:ctss")
    assert lines.rows.whole["cpu"].after == pytest.approx(60.5e9 / side_of("mpl-16:ctss").rows.height)


def test_rows_of_a_table_are_compared_line_by_line(folder: Path) -> None:
    text = """
    [[tables]]
    name = "commands"
    columns = ["old", "new"]
    rows = [{ name = "edit", cells = [4.1, 6.6] }, { name = "list", cells = [1.0, 0.5] }]
    [sides.old]
    rows = { table = "commands", cpu = "old" }
    [sides.new]
    rows = { table = "commands", cpu = "new" }
    """
    path = str(written(folder, text, "lines.toml"))
    comparison = compare(f"{path}:old", f"{path}:new")
    cpu = {row.label: row.measures["cpu"].relative for row in comparison.rows.rows}
    assert cpu == pytest.approx({"edit": 6.6 / 4.1 - 1, "list": -0.5, "the whole script": 7.1 / 5.1 - 1})
    assert (comparison.a.name, comparison.b.name) == ("lines.toml:old", "lines.toml:new")


def test_every_format_has_the_change(folder: Path) -> None:
    comparison = compare(folder / "before.toml", folder / "after.toml")
    for name in ("text", "html", "md", "json"):
        assert "−65.8 %" in str(comparison.report(name)), name
    rows = comparison.frame().filter(pl.col("measure") == "cpu")
    assert rows.select("row", "kind", "verdict").row(0) == ("all", "whole", "lower")
    assert "cpu" in str(comparison.report("csv"))
    side = json.loads(str(comparison.report("json")))["a"]
    assert (side["kind"], side["interactions"], side["name"]) == ("printed", 4420, "before.toml")


@pytest.mark.parametrize("width", [80, 120])
def test_a_page_is_no_wider_than_asked(folder: Path, room: Path, width: int) -> None:
    for other in (folder / "whole-after.toml", folder / "after.toml", room / "run.toml"):
        page = compare(folder / "whole-before.toml", other).report(width=width, full=True)
        assert max(map(len, str(page).splitlines())) <= width


def test_a_contradiction_stands_over_the_comparison(folder: Path) -> None:
    written(folder, WHOLE.replace("53.33", "63.33"))
    page = typed(folder, "compare", "before.toml", "whole-after.toml").stdout
    assert "before contradicts itself in 1 place: see `loadgo reproduce before.toml`." in " ".join(page.split())
    (check,) = [
        check for _, check in compare(folder / "before.toml", folder / "after.toml").checks if check.verdict == "broken"
    ]
    assert check.text == "before contradicts itself in 1 place: total time of before (110 for 100)"


def test_a_threshold_is_decided_by_the_figures_alone(folder: Path) -> None:
    words = ("compare", "after.toml", "before.toml", "--worse", "cpu=5%")
    assert "CPU is 192.4 % more" in " ".join(typed(folder, *words, status=1).stdout.split()).replace("cpu is", "CPU is")
    typed(folder, "compare", "before.toml", "after.toml", "--worse", "cpu=5%", status=0)


def test_several_sides_of_a_file_are_named(folder: Path) -> None:
    both = SMALLEST + SMALLEST.replace("before", "after").replace("14213", "4860")
    path = str(written(folder, both, "both.toml"))
    assert compare(f"{path}:before", f"{path}:after").rows.whole["cpu"].relative == pytest.approx(4860 / 14213 - 1)
    with pytest.raises(
        ValueError, match=r"both\.toml has several sides: name one, .*both\.toml:before, .*both\.toml:after"
    ):
        compare(path, path)
    with pytest.raises(
        ValueError, match=r"no side of a comparison; both\.toml has both\.toml:before, both\.toml:after"
    ):
        compare(f"{path}:old", path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('title = "x"\n', "has no side to compare: write [sides.before]"),
        (
            "[sides.a]\ninteractions = 5\n",
            "[sides.a] cannot be compared: it needs interactions, and cpu_s or elapsed_s",
        ),
        ("[sides.a]\ncpu_s = 5\n", "[sides.a] cannot be compared: it needs interactions"),
        ('lines = [{ type = "ls" }]\n', "line 1, column 1: this is a script: run it"),
        ("[sides.a\n", "line 1, column 9: this is not TOML"),
    ],
)
def test_a_file_that_is_no_side_is_refused_with_what_it_lacks(folder: Path, text: str, said: str) -> None:
    written(folder, text, "bad.toml")
    refusal = typed(folder, "compare", "bad.toml", "after.toml", status=2)
    message = " ".join(refusal.stderr.split())
    assert message.startswith("loadgo: bad.toml")
    assert said in message
    assert not refusal.stdout


def test_a_name_that_is_neither_a_file_nor_a_run_is_refused_as_both(folder: Path) -> None:
    refusal = typed(folder, "compare", "absent.toml", "after.toml", status=2)
    assert "there is no file absent.toml, and no run of this name" in " ".join(refusal.stderr.split())


def test_a_printed_side_is_a_side_alone(folder: Path) -> None:
    for text in ("before.toml,after.toml", "last,after.toml"):
        refusal = typed(folder, "compare", text, "after.toml", status=2)
        assert "is printed: it is a side alone" in " ".join(refusal.stderr.split())


def test_totals_have_no_lines(folder: Path) -> None:
    refusal = typed(folder, "compare", "before.toml", "after.toml", "--by", "line", status=2)
    assert "--by: before.toml has totals alone, and no lines: leave it out" in " ".join(refusal.stderr.split())


def test_a_run_in_a_folder_that_is_called_like_a_file_is_a_run(
    room: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert side_of(room / "run.toml").kind == "machine"
    monkeypatch.setenv("LOADGO_RUNS", os.fspath(room))
    assert side_of("run.toml").kind == "machine"
    assert side_of(folder / "before.toml").kind == "printed"


def test_categories_have_the_names_of_pages_or_those_of_tables(folder: Path) -> None:
    text = WHOLE.replace('"idle zero"     ', '"idle: nothing to run"').replace(
        '"idle page wait" = 1.15', "getwork = 1.15"
    )
    account = side_of(written(folder, text.replace("idle             = 3.19\n", ""))).accounts[0]
    assert account.time_ns == pytest.approx(
        {"user": 7989.9e9, "page fault": 3048.84e9, "getwork": 3637.63e9, "idle zero": 305.63e9}, rel=1e-4
    )


def test_the_short_page_has_the_figures_that_both_sides_have(folder: Path, room: Path) -> None:
    comparison = compare(folder / "before.toml", room / "run.toml")
    short, full = (str(comparison.report(width=100, full=full)) for full in (False, True))
    assert "rows are left out." in short
    assert "response, p90" not in short
    assert "response, p90" in full
    assert full.index("\nCPU ") < full.index("\nresponse ")


def test_charges_alone_are_compared_too(folder: Path) -> None:
    text = '[sides.a]\ninteractions = 5\n[sides.a.charges]\n"shift 1" = {}\n'
    files = [written(folder, text.format(price), f"{price}.toml") for price in (100, 80)]
    assert "B against A, for a mean interaction: charges, shift 1 −20.0 %." in str(compare(*files).report(width=120))


def test_what_has_nothing_in_common_says_so(folder: Path) -> None:
    elapsed = written(folder, "[sides.a]\ninteractions = 5\nelapsed_s = 3\n", "elapsed.toml")
    assert "Nothing can be compared" in str(compare(folder / "before.toml", elapsed).report(width=120))


def test_conditions_stand_in_the_side_itself(folder: Path) -> None:
    files = [
        written(folder, f'{SMALLEST}[sides.before.conditions]\nmemory = "{memory}"\n', f"{memory}.toml")
        for memory in ("256K", "512K")
    ]
    assert "What differs: memory (256K in A, 512K in B)." in str(compare(*files).report(width=120))


def test_a_document_that_says_nothing_of_its_figures_is_not_said_to_hold(folder: Path) -> None:
    verdicts = [check.verdict for _, check in compare(folder / "before.toml", folder / "after.toml").checks]
    assert verdicts == ["cannot be told"] * 2
