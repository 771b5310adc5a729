"""Whether a price is fair, as a document: the answer in a sentence, the ratios by shift, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.costs.fairness import FAIR_PRICE_SHARE, Differential, Fairness, Price, Ratio
from loadgo.costs.fairness_pictures import fairness_pictures
from loadgo.costs.fairness_sides import Side
from loadgo.costs.trust import fairness_trust
from loadgo.costs.words import (
    FAIRNESS_MEASURE_LABELS,
    INTERVAL_NOTE,
    NO_INTERVALS_NOTE,
    level_in_words,
    scale_of,
    tariffs_in_words,
)
from loadgo.decomposition.reading import B_OVER_A, read_factor, read_interval
from loadgo.documents.as_json import Keys, json_document
from loadgo.documents.document import Charts, Document
from loadgo.documents.table import Column, Table
from loadgo.measures.charges import HOUR_NS
from loadgo.measures.json_keys import JSON_KEYS as SUMMARY_KEYS
from loadgo.notation.figures import NOT_MEASURED, capitalized, digits, duration, in_words, money, money_scale
from loadgo.stats.resample import Interval

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


_MIX = (
    "each side's interactions are in the mix of commands that it typed; `loadgo compare` has one mix for both, or each "
    "line once, and so other ratios of the same runs."
)
"""Why the ratios are not those of a comparison."""

JSON_KEYS: Keys = {
    **SUMMARY_KEYS,
    Ratio: "before after interval ratio=value b_over_a b_over_a_interval",
    Differential: "shifts before after",
}


def fairness_document(fairness: Fairness) -> Document:
    """The document."""

    def charts() -> list[Chart]:
        from loadgo.costs.fairness_charts import fairness_charts

        return fairness_charts(fairness)

    tables = [_charges(fairness), _performance(fairness), _levels(fairness)]
    if fairness.differentials:
        tables.append(_differentials(fairness))
    return Document(
        title=f"what {fairness.b.name} is charged, against {fairness.a.name}",
        answer=_answer(fairness),
        trust=fairness_trust(fairness, _warnings(fairness)),
        warnings=_warnings(fairness),
        about=tuple(f"{letter}: {side.name}: {side.title}" for letter, side in (("A", fairness.a), ("B", fairness.b))),
        sections=(*fairness_pictures(fairness), Charts(charts), *tables),
        notes=tuple(_notes(fairness)),
    )


def fairness_json(fairness: Fairness) -> str:
    """One JSON object in full precision. Times are in nanoseconds, `ratio` is A over B, and null means not known."""
    members = {
        "answer": _answer(fairness),
        "a": _side(fairness.a),
        "b": _side(fairness.b),
        "measure": fairness.measure,
        "performance": fairness.performance,
        "prices": [
            {
                "shift": price.shift,
                "charges": price.charges,
                "for_the_same": {
                    name: {"times": level.value, "interval": level.interval, "verdict": price.verdict(name)}
                    for name, level in price.levels.items()
                },
            }
            for price in fairness.prices
        ],
        "differentials": fairness.differentials,
        "notes": fairness.notes,
        "warnings": _warnings(fairness),
    }
    return json_document(members, JSON_KEYS)


def _warnings(fairness: Fairness) -> tuple[str, ...]:
    """The warnings of the runs or the documents of both sides."""
    return tuple(dict.fromkeys((*fairness.a.warnings, *fairness.b.warnings)))


def _side(side: Side) -> dict[str, object]:
    paid = [{"shift": charge.shift, "interaction": charge.each, "tariff": charge.tariff} for charge in side.paid]
    return {"name": side.name, "title": side.title, "currency": side.currency, "paid": paid, "means": side.means}


def _answer(fairness: Fairness) -> str:
    """The verdict, shift by shift."""
    ratio = fairness.performance[fairness.measure]
    name = FAIRNESS_MEASURE_LABELS[fairness.measure]
    shifts_by_verdict: dict[str, list[str]] = {}
    for price in fairness.prices:
        shifts_by_verdict.setdefault(_verdict(fairness, price), []).append(price.shift)
    verdicts = "; ".join(f"{_on(shifts)}{verdict}" for verdict, shifts in shifts_by_verdict.items())
    return f"B takes {_times(ratio)} A's {name}. {capitalized(verdicts)}."


def _on(shifts: Sequence[str]) -> str:
    """The shifts with one verdict: `on shift 1 `, `on shifts 1, 2 and 3 `, or nothing in a tariff without shifts."""
    named = [shift for shift in shifts if shift]
    return f"on shift{'s' if len(named) > 1 else ''} {in_words(named)} " if named else ""


def _verdict(fairness: Fairness, price: Price) -> str:
    level = price.levels[fairness.measure].value
    charged = f"its charge per interaction is {_times(price.charges)} A's"
    match price.verdict(fairness.measure):
        case "fair":
            return f"{charged}, which is fair"
        case "one price":
            return (
                f"{charged}, because one tariff prices both sides by it: that says nothing on B's price "
                "(`--against-tariff` names its own)"
            )
        case "dearer":
            return f"{charged}: {_dearer(level)} for its performance"
        case "cheaper":
            return f"{charged}: {_share(1 - level)} less than is fair for its performance"
    return f"{charged}, which may be fair or not: the interval holds both"


def _dearer(level: float) -> str:
    return f"{_share(level - 1)} more than is fair" if level < 2 else f"{digits(level)} times what is fair"


def _times(ratio: Ratio) -> str:
    """B's figure in multiples of A's: `0.342 times`."""
    return f"{digits(ratio.b_over_a)} times"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def _charges(fairness: Fairness) -> Table:
    """The charge for an interaction, by shift."""
    ratios = [price.charges for price in fairness.prices]
    amounts: list[float | None] = [value for ratio in ratios for value in (ratio.before, ratio.after)]
    scale = max(money_scale(amounts), scale_of(amounts))
    currency = fairness.a.currency
    count = "an interaction" if scale == 1 else f"{scale:,} interactions"
    columns = (
        _shifts(fairness),
        Column("A", tuple(money(ratio.before, currency, scale) for ratio in ratios)),
        Column("B", tuple(money(ratio.after, currency, scale) for ratio in ratios)),
        *_ratio_columns(ratios),
        *_cpu_hour_columns(fairness),
    )
    return Table(f"Charges for {count}", columns)


def _cpu_hour_columns(fairness: Fairness) -> list[Column]:
    """The charges divided by the processor time, as money for an hour. Empty if the processor time is not known."""
    cpu = fairness.performance.get("cpu")
    if cpu is None:
        return []
    charges = [price.charges for price in fairness.prices]
    before = tuple(money(ratio.before / cpu.before * HOUR_NS, fairness.a.currency) for ratio in charges)
    after = tuple(money(ratio.after / cpu.after * HOUR_NS, fairness.a.currency) for ratio in charges)
    return [Column("A, a CPU hour", before, spare=2), Column("B, a CPU hour", after, spare=2)]


def _performance(fairness: Fairness) -> Table:
    """The performance of both sides: the time that an interaction takes."""
    ratios = list(fairness.performance.values())
    columns = (
        Column("of an interaction", tuple(map(_measure_in_full, fairness.performance))),
        Column("A", tuple(duration(ratio.before) for ratio in ratios)),
        Column("B", tuple(duration(ratio.after) for ratio in ratios)),
        *_ratio_columns(ratios),
    )
    return Table("Performance", columns)


def _measure_in_full(name: str) -> str:
    label = FAIRNESS_MEASURE_LABELS[name]
    return f"{label} (run length ÷ interactions)" if name == "elapsed" else label


def _ratio_columns(ratios: list[Ratio]) -> list[Column]:
    columns = [Column(B_OVER_A, tuple(read_factor(ratio.value) for ratio in ratios))]
    if any(ratio.interval for ratio in ratios):
        columns.append(Column("95 % interval", tuple(read_interval(ratio.interval) for ratio in ratios), spare=1))
    return columns


def _levels(fairness: Fairness) -> Table:
    """B's charge for the same performance, as a multiple of A's charge."""
    columns = [_shifts(fairness)]
    for name in fairness.performance:
        levels = [price.levels[name] for price in fairness.prices]
        spare = 0 if name == fairness.measure else 2
        columns.append(
            Column(
                f"by {FAIRNESS_MEASURE_LABELS[name]}",
                tuple(level_in_words(level.value) for level in levels),
                spare=spare,
            )
        )
        if any(level.interval for level in levels):
            columns.append(
                Column("95 % interval", tuple(_interval(level.interval) for level in levels), spare=spare + 1)
            )
    verdicts = tuple(price.verdict(fairness.measure) for price in fairness.prices)
    columns.append(Column(f"by {FAIRNESS_MEASURE_LABELS[fairness.measure]}, B is", verdicts, kept=True))
    title = "B's charge for the same performance, where A's is 1 (charges ÷ times)"
    return Table(title, tuple(columns), charts=("fairness",))


def _differentials(fairness: Fairness) -> Table:
    def cell(share: float) -> str:
        return f"{100 * share:+.1f} %"

    differentials: tuple[Differential, ...] = fairness.differentials
    columns = (
        Column("shift", tuple(f"{pair.shifts[0]} over {pair.shifts[1]}" for pair in differentials)),
        Column("A", tuple(cell(pair.before) for pair in differentials)),
        Column("B", tuple(cell(pair.after) for pair in differentials)),
    )
    return Table("Shift differentials", columns)


def _shifts(fairness: Fairness) -> Column:
    return Column("shift", tuple(price.shift or "all" for price in fairness.prices))


def _interval(interval: Interval | None) -> str:
    return NOT_MEASURED if interval is None else f"{level_in_words(interval.low)}–{level_in_words(interval.high)}"


def _tariff_notes(fairness: Fairness) -> list[tuple[str, str]]:
    """The prices of each side, once if both have the same."""
    lines = []
    for side in (fairness.a, fairness.b):
        tariffs = [paid.tariff for paid in side.paid if paid.tariff is not None]
        lines.append(tariffs_in_words(tariffs) or ["the charges are as printed."])
    if lines[0] == lines[1]:
        return [("Tariff", text) for text in lines[0]]
    return [(f"Tariff {letter}", text) for letter, texts in zip("AB", lines, strict=True) for text in texts]


def _notes(fairness: Fairness) -> list[tuple[str, str]]:
    notes = _tariff_notes(fairness)
    measure = FAIRNESS_MEASURE_LABELS[fairness.measure]
    notes.append(("Mix", _MIX))
    notes.append(
        (
            "Fair",
            f"is a price within {100 * FAIR_PRICE_SHARE:.0f} % of the one that matches the performance by {measure}.",
        )
    )
    is_printed = any(side.use is None for side in (fairness.a, fairness.b))
    if any(price.charges.interval for price in fairness.prices):
        notes.append(("Intervals", f"{INTERVAL_NOTE} Each side is resampled by itself."))
    else:
        notes.append(
            (
                "Intervals",
                "There are none: a printed side has no users to resample." if is_printed else NO_INTERVALS_NOTE,
            )
        )
    return [*notes, *(("Note", text) for text in fairness.notes)]
