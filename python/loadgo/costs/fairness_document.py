"""Whether a price is fair, as a document: the answer in a sentence, the ratios by shift, and the fine print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.costs.fairness import FAIR, Differential, Fairness, Price, Ratio
from loadgo.costs.fairness_pictures import fairness_pictures
from loadgo.costs.fairness_sides import Side
from loadgo.costs.words import INTERVALS, MEASURED, NO_INTERVALS, tariffs_in_words
from loadgo.documents.as_json import Keys, json_document
from loadgo.documents.document import Charts, Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.measures.charges import HOUR_NS
from loadgo.measures.json_keys import JSON_KEYS as SUMMARY_KEYS
from loadgo.notation.figures import NOT_MEASURED, digits, duration, money, money_scale
from loadgo.stats.resample import Interval

if TYPE_CHECKING:
    from loadgo.documents.chart import Chart


_KEYS: Keys = {**SUMMARY_KEYS, Ratio: "before after interval ratio=value", Differential: "shifts before after"}


def render_fairness(made: Fairness, format: Format, *, width: int | None = None, color: bool = False) -> str:
    """The answer as `format`; `width` and `color` are for `text`. Raises `ValueError` for another format."""
    return render(format, lambda: fairness_document(made), lambda: fairness_json(made), width=width, color=color)


def fairness_document(made: Fairness) -> Document:
    """The page."""

    def charts() -> list[Chart]:
        from loadgo.costs.fairness_charts import fairness_charts

        return fairness_charts(made)

    grids = [_charges(made), _performance(made), _levels(made)]
    if made.differentials:
        grids.append(_differentials(made))
    return Document(
        title=f"what {made.b.name} is charged, against {made.a.name}",
        answer=_answer(made),
        about=tuple(f"{letter}: {side.name}: {side.title}" for letter, side in (("A", made.a), ("B", made.b))),
        sections=(*fairness_pictures(made), Charts(charts), *grids),
        notes=tuple(_notes(made)),
    )


def fairness_json(made: Fairness) -> str:
    """One JSON object in full precision; times in nanoseconds, ratios are A's over B's; null is not known."""
    told = {
        "answer": _answer(made),
        "a": _side(made.a),
        "b": _side(made.b),
        "measure": made.measure,
        "performance": made.performance,
        "prices": [
            {
                "shift": price.shift,
                "charges": price.charges,
                "for_the_same": {
                    name: {"times": level.value, "interval": level.interval, "verdict": price.verdict(name)}
                    for name, level in price.levels.items()
                },
            }
            for price in made.prices
        ],
        "differentials": made.differentials,
        "notes": made.notes,
    }
    return json_document(told, _KEYS)


def _side(side: Side) -> dict[str, object]:
    paid = [{"shift": one.shift, "interaction": one.each, "tariff": one.tariff} for one in side.paid]
    return {"name": side.name, "title": side.title, "currency": side.currency, "paid": paid, "means": side.means}


def _answer(made: Fairness) -> str:
    """The verdict, shift by shift."""
    ratio = made.performance[made.measure]
    name = MEASURED[made.measure]
    said = "; ".join(_said(made, price) for price in made.prices)
    return f"B takes {_times(ratio.value)} the {name} of A. {said[:1].upper()}{said[1:]}."


def _said(made: Fairness, price: Price) -> str:
    level = price.levels[made.measure].value
    on = f"on shift {price.shift} " if price.shift else ""
    charged = f"{on}it is charged {_times(price.charges.value)} A's"
    match price.verdict(made.measure):
        case "fair":
            return f"{charged}, which is fair"
        case "dearer":
            return f"{charged}: {_dearer(level)} for what it does"
        case "cheaper":
            return f"{charged}: {_share(1 - level)} less than is fair for what it does"
    return f"{charged}, which may be fair or not: the interval holds both"


def _dearer(level: float) -> str:
    return f"{_share(level - 1)} more than is fair" if level < 2 else f"{digits(level)} times what is fair"


def _times(ratio: float) -> str:
    """`1/2.92 of` for what takes less, `1.30 times` for what takes more."""
    return f"1/{digits(ratio)} of" if ratio >= 1 else f"{digits(1 / ratio)} times"


def _share(part: float) -> str:
    return f"{100 * part:.0f} %"


def _charges(made: Fairness) -> Table:
    """What an interaction is charged, by shift."""
    ratios = [price.charges for price in made.prices]
    scale = money_scale([value for ratio in ratios for value in (ratio.before, ratio.after)])
    currency = made.a.currency
    each = "an interaction" if scale == 1 else f"{scale:,} interactions"
    columns = (
        _shifts(made),
        Column("A", tuple(money(ratio.before, currency, scale) for ratio in ratios)),
        Column("B", tuple(money(ratio.after, currency, scale) for ratio in ratios)),
        *_of_ratios(ratios),
        *_of_processor(made),
    )
    return Table(f"Charges for {each}", columns)


def _of_processor(made: Fairness) -> list[Column]:
    """What an hour of processor time comes to, where it is known."""
    cpu = made.performance.get("cpu")
    if cpu is None:
        return []
    charges = [price.charges for price in made.prices]
    cells = [(money(one.before / cpu.before * HOUR_NS, made.a.currency) for one in charges)]
    cells.append(money(one.after / cpu.after * HOUR_NS, made.a.currency) for one in charges)
    return [Column(f"{letter}, a CPU hour", tuple(told), spare=2) for letter, told in zip("AB", cells, strict=True)]


def _performance(made: Fairness) -> Table:
    """What an interaction takes."""
    ratios = list(made.performance.values())
    columns = (
        Column("of an interaction", tuple(MEASURED[name] for name in made.performance)),
        Column("A", tuple(duration(ratio.before) for ratio in ratios)),
        Column("B", tuple(duration(ratio.after) for ratio in ratios)),
        *_of_ratios(ratios),
    )
    return Table("Performance", columns)


def _of_ratios(ratios: list[Ratio]) -> list[Column]:
    columns = [Column("A / B", tuple(f"{ratio.value:.3f}" for ratio in ratios))]
    if any(ratio.interval for ratio in ratios):
        columns.append(Column("95 %", tuple(_interval(ratio.interval) for ratio in ratios), spare=1))
    return columns


def _levels(made: Fairness) -> Table:
    """What B is charged for the same performance, as a multiple of A's charge."""
    columns = [_shifts(made)]
    for name in made.performance:
        levels = [price.levels[name] for price in made.prices]
        spare = 0 if name == made.measure else 2
        columns.append(Column(f"by {MEASURED[name]}", tuple(f"{level.value:.3f}" for level in levels), spare=spare))
        if any(level.interval for level in levels):
            columns.append(Column("95 %", tuple(_interval(level.interval) for level in levels), spare=spare + 1))
    verdicts = tuple(price.verdict(made.measure) for price in made.prices)
    columns.append(Column(f"by {MEASURED[made.measure]}, B is", verdicts))
    return Table("What B charges for the same performance, of what A does: performance ÷ charges", tuple(columns))


def _differentials(made: Fairness) -> Table:
    def cell(share: float) -> str:
        return f"{100 * share:+.1f} %"

    told: tuple[Differential, ...] = made.differentials
    columns = (
        Column("shift", tuple(f"{one.shifts[0]} over {one.shifts[1]}" for one in told)),
        Column("A", tuple(cell(one.before) for one in told)),
        Column("B", tuple(cell(one.after) for one in told)),
    )
    return Table("Shift differentials", columns)


def _shifts(made: Fairness) -> Column:
    return Column("shift", tuple(price.shift or "all" for price in made.prices))


def _interval(interval: Interval | None) -> str:
    return NOT_MEASURED if interval is None else f"{interval.low:.3f}–{interval.high:.3f}"


def _notes(made: Fairness) -> list[tuple[str, str]]:
    found = []
    for letter, side in (("A", made.a), ("B", made.b)):
        told = [paid.tariff for paid in side.paid if paid.tariff is not None]
        found += [(f"Tariff {letter}", text) for text in tariffs_in_words(told)]
        if not told:
            found.append((f"Tariff {letter}", "the charges are as printed."))
    found.append(
        ("Fair", f"is a price within {100 * FAIR:.0f} % of what the performance by {MEASURED[made.measure]} asks.")
    )
    printed = any(side.use is None for side in (made.a, made.b))
    if any(price.charges.interval for price in made.prices):
        found.append(("Intervals", f"{INTERVALS} Each side's apart."))
    else:
        found.append(("Intervals", "There are none: print has neither users nor runs." if printed else NO_INTERVALS))
    return [*found, *(("Note", text) for text in made.notes)]
