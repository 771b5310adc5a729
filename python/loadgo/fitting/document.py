"""A fit as a document: the fitted values, the machine under the load of its runs, and the assumptions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from loadgo.documents.as_json import Keys, json_document
from loadgo.documents.document import Document
from loadgo.documents.table import Column, Table
from loadgo.fitting.trial import MEAN_RESPONSE_LABEL, FittedCheck
from loadgo.measures.trust import A_MODEL, Evidence, fitted_doubt, trust_in_words
from loadgo.notation.figures import capitalized, digits, duration, in_words, joined, people, share
from loadgo.notation.keys import parts_of
from loadgo.notation.laws import read_law
from loadgo.notation.measures import percent
from loadgo.prediction.fitted import Parameter

if TYPE_CHECKING:
    from loadgo.fitting.fit import Fit

_NAME_CHARS = 40
GOOD_OFF_SHARE = 0.1
"""A model whose mean response is farther off, under the load that it was fitted to, is trusted less."""
_MOST_OFF_SHARE = 0.2
"""A model whose mean response is farther off, under the load that it was fitted to, is no prediction of responses."""
_LARGE_OFF_SHARE = 9.0
"""A figure that the model has ten times as large as measured is off by a factor, not by hundreds of percent."""
JSON_KEYS: Keys = {
    Parameter: "key of value low high source",
    FittedCheck: "run users figure measured machine timed error off",
}


def fit_json(fit: Fit) -> str:
    """The fit as one JSON object, without the covariance of its parameters, which is in the machine file."""
    fitted = fit.fitted
    return json_document(
        {
            "title": fit.title,
            "path": fit.path,
            "script": fitted.script,
            "runs": fitted.runs,
            "users": fitted.users,
            "interactions": fitted.interactions,
            "reference": fitted.reference,
            "parameters": fitted.parameters,
            "checks": fit.checks,
            "assumed": fitted.assumed,
            "warnings": _warnings(fit),
            "hint": fit.hint,
            "further_runs": fit.further_runs,
        },
        JSON_KEYS,
    )


def fit_document(fit: Fit) -> Document:
    """The document of a fit."""
    fitted = fit.fitted
    load = f"with {people(*sorted(set(fitted.users)))}" if fitted.users else "of users who came and went"
    return Document(
        title=fit.title,
        warnings=_warnings(fit),
        trust=_trust(fit),
        answer=f"{fit.title}: {fitted.interactions:,} interactions {load}.{_accuracy(fit)}",
        further_answers=(fit.copied_fit,) if fit.copied_fit else (),
        about=(f"A model of the machine, fitted to {_named_runs(fitted.runs)}.",),
        sections=(_means_table(fit), *([_checks_table(fit)] if fit.checks else [])),
        notes=(
            *(("Assumed", text) for text in fitted.assumed),
            *_speed_notes(fit),
            ("Predict", fit.hint),
            *_further_notes(fit),
        ),
    )


def _speed_notes(fit: Fit) -> tuple[tuple[str, str], ...]:
    """The note on the speed of the processors in the runs, if it is known."""
    return () if fit.speeds is None else (("Speed", f"{capitalized(fit.speeds.in_words)}."),)


def _further_notes(fit: Fit) -> tuple[tuple[str, str], ...]:
    """The note on runs that would lessen the doubt, if there is one."""
    return (("Measure", f"{capitalized(fit.further_runs)}."),) if fit.further_runs else ()


def _warnings(fit: Fit) -> tuple[str, ...]:
    """The warnings, in lower case for lines of the standard error, as sentences. A run's name stays as it is."""
    names = fit.fitted.runs
    return tuple(f"{text if text.partition(':')[0] in names else capitalized(text)}." for text in fit.warnings)


def _trust(fit: Fit) -> str:
    """The line on whether to believe the machine: how well it gives back the load that it was fitted to."""
    users, farthest = sorted(set(fit.fitted.users)), _farthest_checks(fit).values()
    against, grounds = [], list(fit.evidence.grounds)
    worst = max((abs(check.off) for check in farthest), default=None)
    if worst is None:
        against.append("the model was not tried under the load that it was fitted to")
    elif worst > GOOD_OFF_SHARE:
        against.append("the model does not give back the load that it was fitted to")
    elif (other := _farthest_other(fit)) is not None:
        against.append(f"under the load that it was fitted to, its {other.figure} is {_off_in_words(other)}")
    else:
        grounds.insert(0, f"under the load that it was fitted to, its mean response is off by {share(worst)}")
    if fit.copied_fit:
        against.append("it is a copy of another model, not of a measured host")
    if users:
        against.append(fitted_doubt(users))
    return trust_in_words(
        Evidence((*fit.evidence.against, *against), tuple(grounds), fit.evidence.scope), is_warned=bool(fit.warnings)
    )


def _named_runs(runs: Sequence[str]) -> str:
    return f"the run{'s' if len(runs) > 1 else ''} {in_words(list(runs))}"


def _accuracy(fit: Fit) -> str:
    """A sentence on the model's mean response under the load that it was fitted to; empty if it was not tried."""
    farthest = _farthest_checks(fit)
    if not farthest:
        return ""
    errors = [f"{_off_in_words(farthest[users])} with {people(users)}" for users in sorted(farthest)]
    if len(set(fit.fitted.users)) == 1:
        errors = [_off_in_words(check) for check in farthest.values()]
    worst = max(abs(check.off) for check in farthest.values())
    advice = " Do not predict response times with it." if worst > _MOST_OFF_SHARE else ""
    other = _farthest_other(fit)
    also = "" if other is None else f" Farthest off is the {other.figure}, {_off_in_words(other)}."
    return f" Under this load the model's mean response is {in_words(errors)}.{also}{advice}"


def _farthest_other(fit: Fit) -> FittedCheck | None:
    """The check of another figure that is farthest off. None if none is surely off by more than a good model."""
    others = [
        each
        for each in fit.checks
        if each.figure != MEAN_RESPONSE_LABEL
        and math.isfinite(each.off)
        and abs(each.off) > max(GOOD_OFF_SHARE, 2 * (each.error or 0.0))
    ]
    return max(others, key=lambda each: abs(each.off), default=None)


def _farthest_checks(fit: Fit) -> dict[int, FittedCheck]:
    """The check of the mean response that is farthest off, by number of users."""
    farthest: dict[int, FittedCheck] = {}
    for check in fit.checks:
        if check.figure == MEAN_RESPONSE_LABEL and math.isfinite(check.off):
            farthest[check.users] = max(farthest.get(check.users, check), check, key=lambda each: abs(each.off))
    return farthest


def _off_in_words(check: FittedCheck) -> str:
    """The error of the machine as a phrase: `6.6 % too low`."""
    shown = percent(abs(check.off)).removeprefix("+")
    if float(shown.partition(" ")[0]) == 0:
        return "right"
    return f"{shown} too {'high' if check.off > 0 else 'low'}"


def _off(check: FittedCheck) -> str:
    """The error of the machine, from ten times on as a factor; a dash where the measured figure is 0."""
    if not math.isfinite(check.off):
        return percent(None)
    return percent(check.off) if check.off < _LARGE_OFF_SHARE else f"×{digits(1 + check.off)}"


def _means_table(fit: Fit) -> Table:
    means = [parameter for parameter in fit.fitted.parameters if parameter.of != "spread"]
    intervals = (
        "" if parameter.low is None else joined(_format_mean(parameter.low), _format_mean(parameter.high))
        for parameter in means
    )
    columns = (
        Column("value", tuple(_key_in_words(parameter.key) for parameter in means)),
        Column("mean", tuple(_format_mean(parameter.value) for parameter in means)),
        Column("95 % interval", tuple(intervals)),
        Column("from", tuple(parameter.source for parameter in means), kind="words"),
    )
    return Table("Fitted", columns, name_width=_NAME_CHARS)


def _checks_table(fit: Fit) -> Table:
    checks = fit.checks
    has_several_runs = len({check.run for check in checks}) > 1
    columns = (
        Column("figure", tuple(check.figure for check in checks)),
        *([Column("run", tuple(check.run for check in checks), kind="words")] if has_several_runs else []),
        Column("users", tuple(str(check.users) for check in checks)),
        Column(
            "simulated" if fit.evidence.scope == A_MODEL else "measured",
            tuple(check.shown(check.measured) for check in checks),
        ),
        Column("model", tuple(check.shown(check.machine) for check in checks)),
        Column("off by", tuple(_off(check) for check in checks), kept=True),
    )
    return Table("The model under the load that it was fitted to", columns)


def _key_in_words(key: str) -> str:
    """A key in words: `commands.edit.cpu` is `edit, cpu`."""
    parts = parts_of(key)
    return ", ".join(parts[1:] if parts[0] in ("commands", "storage", "supervisor") else parts)


def _format_mean(text: str | None) -> str:
    if text is None:
        return ""
    law = read_law(text if not _is_number(text) else float(text))
    return duration(law.mean) if law.timed else digits(law.mean)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
