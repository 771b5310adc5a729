"""A fit in every format: its document with JSON, and its parameters and checks as frames."""

from __future__ import annotations

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.fitting.document import fit_document, fit_json
from loadgo.fitting.fit import Fit


def presentation(fit: Fit) -> Presentation:
    """The parts of a fit."""
    return Presentation(
        lambda: fit_document(fit),
        lambda: fit_json(fit),
        {
            "parameters": lambda: frame_of(fit.fitted.parameters, "key of value low high source"),
            "checks": lambda: frame_of(fit.checks, "run users figure measured machine timed error off"),
        },
    )
