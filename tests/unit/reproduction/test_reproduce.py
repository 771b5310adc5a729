"""A reproduction judged: marks, tolerances, what follows from other figures, and that nothing is dropped."""

import pytest
from loadgo.published.catalogue import document, documents
from loadgo.published.claims import Reference, references
from loadgo.published.document import Document
from loadgo.published.document_file import parse_tolerance
from loadgo.published.number import read_number
from loadgo.reproduction.models.arithmetic import with_arithmetic
from loadgo.reproduction.models.values import ReproducedValue
from loadgo.reproduction.reproduce import ReproducedDocument, judge_document, reproduce
from loadgo.reproduction.verdict import is_within
from support.printed_values import as_printed


def swap_of(value: ReproducedValue | None) -> ReproducedDocument:
    """The calculator's document with `value` for its swap time."""
    printed = document("ctss-trivial")
    values = as_printed(printed)
    values.pop("ctss-trivial/summary/swap/value")
    return judge_document(printed, values if value is None else {**values, "ctss-trivial/summary/swap/value": value})


@pytest.mark.parametrize("told", documents(), ids=lambda told: told.name)
def test_every_figure_has_a_verdict_and_a_model_that_gives_what_is_printed_is_right(told: Document) -> None:
    reproduced = judge_document(told, as_printed(told))
    assert list(reproduced.cells) == list(told.figures)
    assert not reproduced.count("outside", "missing", "not predicted")


@pytest.mark.parametrize("told", documents(), ids=lambda told: told.name)
def test_a_model_that_gives_three_times_what_is_printed_is_wrong(told: Document) -> None:
    assert judge_document(told, as_printed(told, 3.0)).count("outside")


@pytest.mark.parametrize("told", documents(), ids=lambda told: told.name)
def test_what_no_model_gives_is_missing_and_never_taken_from_print(told: Document) -> None:
    reproduced = judge_document(told, {})
    assert reproduced.count("missing")
    said = [*told.derivations, *(relation for relation in told.relations if relation.derives)]
    sides = [(claim.left, references(claim.right)) for relation in said for claim in relation.claims]
    follows = {cell: parts for left, parts in sides if isinstance(left, Reference) for cell in left.cells}
    for key, cell in reproduced.cells.items():
        if cell.verdict == "within":
            used = [reproduced.cells[part].verdict for reference in follows[key] for part in reference.cells]
            assert set(used) <= {"given", "within"}, key
        if cell.verdict in ("missing", "not modelled"):
            assert cell.ours is None
            assert cell.rule.why


def test_a_predicted_figure_is_within_its_tolerance_or_outside() -> None:
    key = "ctss-trivial/summary/swap/value"
    assert swap_of(ReproducedValue(149.8, "predicted", "the drum")).cells[key].verdict == "within"
    assert swap_of(ReproducedValue(160.0, "predicted", "the drum")).cells[key].verdict == "outside"
    assert swap_of(ReproducedValue(160.0, "predicted", "the drum")).cells[key].ratio == pytest.approx(160 / 145)


def test_what_was_to_be_predicted_and_is_fitted_is_said() -> None:
    key = "ctss-trivial/summary/swap/value"
    assert swap_of(ReproducedValue(145.0, "fitted", "the drum's speed")).cells[key].verdict == "not predicted"
    assert swap_of(None).cells[key].verdict == "missing"


def test_a_value_for_a_figure_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="summary/nothing"):
        judge_document(
            document("ctss-trivial"), {"ctss-trivial/summary/nothing": ReproducedValue(1.0, "predicted", "")}
        )


def test_what_follows_from_other_figures_is_worked_out() -> None:
    printed = document("ctss-trivial")
    swap = ReproducedValue(150.0, "predicted", "the drum")
    ours = with_arithmetic(printed, {"ctss-trivial/summary/swap/value": swap})
    assert ours["ctss-trivial/text/total"].value == pytest.approx(162.0)
    assert ours["ctss-trivial/text/total"].mark == "predicted"
    assert "ctss-trivial/text/total" not in with_arithmetic(printed, {})


def test_a_million_bits_cost_what_was_printed() -> None:
    per_bit = ReproducedValue(75.0, "predicted", "the printed range", high=85.0)
    ours = with_arithmetic(document("rfc-392"), {"rfc-392/text/per-bit": per_bit})
    cost, times = ours["rfc-392/text/cost"], ours["rfc-392/text/times"]
    assert (cost.value, cost.high) == (pytest.approx(9.8875), pytest.approx(11.2058, abs=1e-4))
    assert (times.value, times.high) == (pytest.approx(32.96, abs=0.01), pytest.approx(37.35, abs=0.01))
    assert ours["rfc-392/text/per-byte"].value == pytest.approx(600.0)


def test_the_speed_up_of_1973_is_taken_apart_again() -> None:
    printed = document("csr-rfc-20")
    reproduced = judge_document(printed, as_printed(printed))
    totals = {total.total.id.rpartition("/")[2]: total.printed for total in reproduced.totals}
    assert totals["factor-elapsed"] == pytest.approx(249.7 / 91.4)
    product = totals["factor-work"] * totals["factor-overhead"] * totals["factor-idle"]
    assert product == pytest.approx(totals["factor-elapsed"], rel=1e-12)
    assert totals["factor-overhead"] == pytest.approx(1.4529, abs=1e-4)
    assert totals["fault-time-645"] == pytest.approx(3.316, abs=1e-3)


def test_a_misprinted_figure_is_held_to_what_the_others_say() -> None:
    printed = document("mpl-16")
    values = as_printed(printed)
    reproduced = judge_document(printed, {**values, "mpl-16/text/console": ReproducedValue(84.5, "predicted", "a run")})
    assert reproduced.cells["mpl-16/text/console"].verdict == "within"
    printed = document("csr-rfc-20")
    key = "csr-rfc-20/results/cpu-good/6180"
    low = {**as_printed(printed), key: ReproducedValue(3360.0, "predicted", "a run")}
    assert judge_document(printed, low).cells[key].verdict == "misprint"
    assert judge_document(printed, low).cells[key].corrected == "3,919"


@pytest.mark.parametrize(
    ("printed", "ours", "within", "right"),
    [
        ("20-30", ReproducedValue(24.0, "predicted", ""), "rounding", True),
        ("20-30", ReproducedValue(31.0, "predicted", ""), "rounding", False),
        ("20-30", ReproducedValue(18.0, "predicted", "", high=29.0), "10 %", True),
        ("20-30", ReproducedValue(18.0, "predicted", "", high=34.0), "10 %", False),
        ("≤ 8", ReproducedValue(3.0, "predicted", ""), "factor 1.5", True),
        ("≤ 8", ReproducedValue(12.5, "predicted", ""), "factor 1.5", False),
        ("more than an order of magnitude", ReproducedValue(60.0, "predicted", ""), "rounding", True),
        ("0.00%", ReproducedValue(0.4, "predicted", ""), "15 %, 0.5 points", True),
        ("0.00%", ReproducedValue(0.6, "predicted", ""), "15 %, 0.5 points", False),
        ("about 1", ReproducedValue(1.4, "predicted", ""), "rounding", True),
    ],
)
def test_near_enough_is_what_the_tolerance_says(printed: str, ours: ReproducedValue, within: str, right: bool) -> None:
    assert is_within(read_number(printed, "ms"), ours, parse_tolerance(within)) is right


def test_an_unknown_document_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="mpl-16"):
        reproduce("mpl-17")
