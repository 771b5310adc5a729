"""A fit as a document: what each command asks for, how the machine does under the same load, what was assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document
from loadgo.documents.document import Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import duration, people
from loadgo.notation.keys import parts_of
from loadgo.notation.laws import read_law

if TYPE_CHECKING:
    from loadgo.fitting.fit import Fit

_NAME_WIDTH = 40


def render_fit(fit: Fit, format: Format = "text", *, width: int | None = None, color: bool = False) -> str:
    """Renders a fit as `format`: text, html, json or md. `width`, in characters, and `color` are for text.

    JSON leaves out the covariance of the parameters, which is in the machine file. Raises `ValueError` for another
    format.
    """
    return render(format, lambda: fit_document(fit), lambda: _json(fit), width=width, color=color)


def _json(fit: Fit) -> str:
    fitted = fit.fitted
    parameters = ("key", "of", "value", "low", "high", "source")
    checks = ("run", "users", "figure", "measured", "machine", "timed", "error", "off")
    return json_document(
        {
            "title": fit.title,
            "path": fit.path,
            "script": fitted.script,
            "runs": fitted.runs,
            "users": fitted.users,
            "interactions": fitted.interactions,
            "parameters": [{key: getattr(parameter, key) for key in parameters} for parameter in fitted.parameters],
            "checks": [{key: getattr(check, key) for key in checks} for check in fit.checks],
            "assumed": fitted.assumed,
            "warnings": fit.warnings,
            "hint": fit.hint,
        },
        {},
    )


def fit_document(made: Fit) -> Document:
    """The document."""
    fit = made.fitted
    who = f"with {people(*sorted(set(fit.users)))}" if fit.users else "of users who came and went"
    return Document(
        title=made.title,
        answer=f"{made.title}: {fit.interactions:,} interactions {who}.",
        sections=(_means(made), *([_checks(made)] if made.checks else [])),
        notes=(*(("Assumed", text) for text in fit.assumed), ("Predict", made.hint)),
    )


def _means(made: Fit) -> Table:
    means = [one for one in made.fitted.parameters if one.of == "mean"]
    ends = ("" if one.low is None else f"{_shown(one.low)} – {_shown(one.high)}" for one in means)
    columns = (
        Column("value", tuple(_name(one.key) for one in means)),
        Column("mean", tuple(_shown(one.value) for one in means)),
        Column("95 % interval", tuple(ends)),
        Column("from", tuple(one.source for one in means), kind="words"),
    )
    return Table("Fitted", columns, name_width=_NAME_WIDTH)


def _checks(made: Fit) -> Table:
    rows = made.checks
    several = len({one.run for one in rows}) > 1
    columns = (
        Column("figure", tuple(one.figure for one in rows)),
        *([Column("run", tuple(one.run for one in rows), kind="words")] if several else []),
        Column("users", tuple(str(one.users) for one in rows)),
        Column("measured", tuple(one.shown(one.measured) for one in rows)),
        Column("the machine", tuple(one.shown(one.machine) for one in rows)),
        Column("off by", tuple(f"{100 * one.off:+.1f} %" for one in rows)),
    )
    return Table("The machine under the load that it was fitted to", columns)


def _name(key: str) -> str:
    """A key in words: `commands.edit.cpu` is edit, cpu."""
    parts = parts_of(key)
    return ", ".join(parts[1:] if parts[0] in ("commands", "storage", "supervisor") else parts)


def _shown(text: str | None) -> str:
    if text is None:
        return ""
    law = read_law(text if not _is_number(text) else float(text))
    return duration(law.mean) if law.timed else f"{law.mean:.4g}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
