"""Whether a price is fair: the printed charges of 1973 come out as their text has them, and runs are held so too."""

import json
import re
import subprocess
import sys
from pathlib import Path

import loadgo
import pytest
from loadgo.costs.fairness import Fairness, cost_against
from loadgo.published import catalogue
from loadgo.published.consistency import find_contradictions
from support.command_line import typed
from support.small_machine import laid

A, B = "csr-rfc-20:645", "csr-rfc-20:6180"


@pytest.fixture(scope="module")
def of_1973() -> Fairness:
    """The document's own charges."""
    return cost_against(A, B)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small machine, and one that is twice as fast at twice the price of an hour on shift 1 and the same on 2."""
    folder = tmp_path_factory.mktemp("held")
    laid(folder)
    machine = folder / "small-machine.toml"
    faster = machine.read_text().replace("shifts = { 1 = 400.0, 2 = 100.0 }", "shifts = { 1 = 800.0, 2 = 100.0 }")
    folder.joinpath("faster.toml").write_text(faster)
    for seed in (1, 2):
        out = folder / f"slow-{seed}"
        loadgo.run(folder / "small.toml", on=str(machine), users=6, passes=4, seed=seed, out=out)
    speed = ["processors.speed=2"]
    loadgo.run(folder / "small.toml", on=str(folder / "faster.toml"), users=6, passes=4, set=speed, out=folder / "fast")
    return folder


def test_the_charges_are_in_the_printed_ratios_by_shift(of_1973: Fairness) -> None:
    figures = catalogue.document("csr-rfc-20").figures
    printed = {shift: f"csr-rfc-20/text/ratio-cost-{shift}" for shift in ("1", "2", "3")}
    assert set(printed.values()) <= set(figures)
    assert [price.shift for price in of_1973.prices] == ["1", "2", "3"]
    assert [round(price.charges.value, 1) for price in of_1973.prices] == [2.9, 2.3, 1.1]
    assert [price.charges.value for price in of_1973.prices] == pytest.approx(
        [1995.07 / 685.66, 1421.30 / 619.25, 598.40 / 524.36]
    )


def test_shifts_with_one_verdict_are_told_together(room: Path) -> None:
    same = cost_against(room / "slow-1", room / "slow-1").report("text").replace("\n", " ")
    assert "On shifts 1 and 2 its charge per interaction is 1.00 times A's, because one tariff prices both" in same


def test_one_tariff_on_both_sides_says_nothing_on_the_price_of_b(room: Path) -> None:
    circular = cost_against(room / "slow-1", room / "slow-2")
    for price in circular.prices:
        assert price.levels["cpu"].value == pytest.approx(1.0, rel=1e-9)
        assert price.verdict("cpu") == "one price"
        assert price.levels["elapsed"].interval is None, "elapsed time is known once"
        assert price.verdict("response") != "one price"
    shown = " ".join(circular.report(width=80).split())
    assert "because one tariff prices both sides by it: that says nothing on B's price" in shown
    assert "so whether B's price is fair cannot be told" in shown
    assert "which is fair" not in shown
    assert json.loads(circular.report("json"))["prices"][0]["for_the_same"]["cpu"]["verdict"] == "one price"


def test_the_performance_is_that_of_the_printed_processor_and_elapsed_times(of_1973: Fairness) -> None:
    assert of_1973.measure == "cpu"
    assert of_1973.performance["cpu"].value == pytest.approx(14213 / 4860)
    assert of_1973.performance["elapsed"].value == pytest.approx(249.7 / 91.4)
    assert "response" not in of_1973.performance


def test_the_first_shift_is_fair_and_the_others_are_dear(of_1973: Fairness) -> None:
    """First-shift prices "have been accurately set to reflect exactly the performance improvement"."""
    assert [price.verdict("cpu") for price in of_1973.prices] == ["fair", "dearer", "dearer"]
    assert of_1973.prices[0].levels["cpu"].value == pytest.approx(1.005, abs=0.0005)


def test_the_shift_differentials_have_shrunk_to_about_ten_percent(of_1973: Fairness) -> None:
    first, second = of_1973.differentials
    assert (first.shifts, second.shifts) == (("1", "2"), ("2", "3"))
    assert (round(first.before, 2), round(second.before, 2)) == (0.40, 1.38)
    assert (round(first.after, 2), round(second.after, 2)) == (0.11, 0.18)


def test_the_other_way_round_every_ratio_is_inverted(of_1973: Fairness) -> None:
    back = cost_against(B, A)
    for there, here in zip(of_1973.prices, back.prices, strict=True):
        assert there.charges.value * here.charges.value == pytest.approx(1, rel=1e-12)
        assert there.levels["cpu"].value * here.levels["cpu"].value == pytest.approx(1, rel=1e-12)
    assert [price.verdict("cpu") for price in back.prices] == ["fair", "cheaper", "cheaper"]


def test_against_itself_every_price_is_fair() -> None:
    same = cost_against(A, A)
    assert {price.charges.value for price in same.prices} == {1.0}
    assert {price.verdict("elapsed") for price in same.prices} == {"fair"}


def test_the_bundled_tariffs_say_of_the_printed_processor_times_what_the_charges_say(of_1973: Fairness) -> None:
    priced = cost_against(A, B, tariff="multics-645-1973", against_tariff="multics-6180-1973")
    for told, printed in zip(priced.prices, of_1973.prices, strict=True):
        assert told.charges.value == pytest.approx(printed.charges.value, rel=0.01)


def test_the_page_says_what_the_document_concludes(of_1973: Fairness) -> None:
    shown = " ".join(of_1973.report(width=80).split())
    assert "B takes 0.342 times A's processor time" in shown
    assert "on shift 1 its charge per interaction is 0.344 times A's, which is fair" in shown.replace("On", "on")
    assert "on shift 2 its charge per interaction is 0.436 times A's: 27 % more than is fair" in shown
    assert "on shift 3 its charge per interaction is 0.876 times A's: 2.56 times what is fair" in shown
    assert "one of twenty processes ended approximately 80% through the script" in shown
    assert max(map(len, of_1973.report(width=80).splitlines())) <= 80
    document = json.loads(of_1973.report("json"))
    assert document["prices"][1]["for_the_same"]["cpu"]["verdict"] == "dearer"
    assert "<h1>B takes" in of_1973.report("html")
    assert "| shift |" in of_1973.report("md")


def test_runs_are_held_against_each_other_at_their_machines_own_prices(room: Path) -> None:
    """Twice as fast for twice the price of an hour is no gain: B is twice as dear for the processor time it takes."""
    fairness = cost_against(f"{room / 'slow-1'},{room / 'slow-2'}", room / "fast")
    own, same = fairness.prices
    assert own.levels["cpu"].value == pytest.approx(2.0, rel=1e-9)
    assert same.levels["cpu"].value == pytest.approx(1.0, rel=1e-9)
    assert (own.verdict("cpu"), same.verdict("cpu")) == ("dearer", "fair")
    interval = own.charges.interval
    assert interval is not None
    assert interval.holds(own.charges.value)
    assert interval.low < interval.high


def test_what_cannot_be_told_from_fair_is_open(room: Path) -> None:
    """By response, two seeds of a machine differ by chance alone: the interval holds 1, and much beside it."""
    fairness = cost_against(room / "slow-1", room / "slow-2", measure="response")
    level = fairness.prices[0].levels["response"]
    assert level.interval is not None
    assert level.interval.holds(1.0)
    assert fairness.prices[0].verdict("response") == "open"


def test_a_run_can_be_held_against_print_and_it_says_what_nobody_knows(room: Path) -> None:
    fairness = cost_against(room / "slow-1", B)
    assert [price.shift for price in fairness.prices] == ["1", "2"]
    assert any("One side is printed" in note for note in fairness.notes)
    assert any("are left out: 3" in note for note in fairness.notes)


@pytest.mark.parametrize(
    ("a", "b", "asked", "says"),
    [
        ("mpl-16:ctss", "mpl-16:multics", {}, "mpl-16:ctss has no printed charges: name a tariff for it"),
        (A, "csr-rfc-20:6080", {}, "csr-rfc-20:6080 is no side"),
        (A, B, {"tariff": "cloud"}, "can be priced by its processor time alone"),
        (A, B, {"measure": "response"}, "response is not known on both sides; known are: cpu, elapsed"),
        (f"{A},{B}", B, {}, "is a printed column: it cannot be joined"),
    ],
)
def test_what_cannot_be_held_against_each_other_is_told(a: str, b: str, asked: dict[str, str], says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        cost_against(a, b, **asked)  # type: ignore[arg-type]


def test_two_currencies_and_two_scripts_are_refused(room: Path, tmp_path: Path) -> None:
    euros = tmp_path / "euros.toml"
    euros.write_text('source = "the bill"\ncurrency = "€"\ncpu_hour = 1\n')
    with pytest.raises(ValueError, match="name tariffs in one currency"):
        cost_against(room / "slow-1", room / "fast", against_tariff=str(euros))
    free = tmp_path / "free.toml"
    free.write_text('source = "a gift"\ncpu_hour = 0\n')
    with pytest.raises(ValueError, match="nothing is charged at free"):
        cost_against(room / "slow-1", room / "fast", tariff=str(free))
    other = tmp_path / "other.toml"
    other.write_text('name = "other"\nthink = "fixed(2s)"\nlines = ["list"]\n')
    loadgo.run(other, on=str(room / "small-machine.toml"), users=2, out=tmp_path / "other")
    with pytest.raises(ValueError, match="have not typed the same script: a price is fair for the same work"):
        cost_against(room / "slow-1", tmp_path / "other")


def command(*arguments: str | Path, folder: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    """`loadgo cost` with these arguments, and the exit status that it must have."""
    return typed(folder, "cost", *arguments, status=status)


def test_the_command_prices_holds_lists_and_prints(room: Path, tmp_path: Path) -> None:
    command(A, "--against", B, "--format", "html", folder=tmp_path)
    assert "which is fair" in tmp_path.joinpath("cost.html").read_text()
    assert "tenex-1972" in command("--tariffs", folder=tmp_path).stdout
    template = command("--print-tariff", "cloud", folder=tmp_path).stdout
    tmp_path.joinpath("mine.toml").write_text(template)
    mine = command(room / "slow-1", "--tariff", "mine.toml", "--by", "user", folder=tmp_path).stdout
    assert "By user (tariff: mine)" in mine


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["absent"], "absent"),
        (["--against-tariff", "cloud"], "belong to --against RUN"),
        ([A, "--against", B, "--tariff", "default", "--tariff", "cloud"], "with --against name one --tariff"),
        (["--print-tariff", "nonsense"], "tariff nonsense: is not bundled"),
    ],
)
def test_the_commands_mistakes_are_told_with_exit_status_2(arguments: list[str], says: str, tmp_path: Path) -> None:
    told = command(*arguments, folder=tmp_path, status=2)
    assert says in told.stderr.replace("\n", " ")
    assert sys.executable not in told.stderr


def test_compare_fairness_and_reproduce_count_the_same_contradictions() -> None:
    findings = find_contradictions(catalogue.document("csr-rfc-20"))
    clause = f"csr-rfc-20 contradicts itself in {len(findings)} places"
    sides = ("csr-rfc-20:645", "csr-rfc-20:6180")
    assert clause in loadgo.compare(*sides).report(width=200).split("\n")[0]
    fair = cost_against(*sides).report(width=200).split("\n")
    assert fair[0].startswith(clause)
    assert any(line.startswith("csr-rfc-20:645: Extrapolated: ") for line in fair[1:3])
    reproduced = loadgo.reproduce("csr-rfc-20")
    assert clause in reproduced.report(width=200)
    assert len(reproduced.documents[0].findings) == len(findings)
