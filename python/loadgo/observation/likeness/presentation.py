"""A likeness in every format: its document with JSON and charts, and its figures as frames."""

from __future__ import annotations

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.observation.likeness.document import JSON_KEYS, likeness_document, likeness_json
from loadgo.observation.likeness.results import ComparedBytes, Gap, Likeness

_ENDS = "low=interval.low high=interval.high"
_FIGURES = f"depends_on user_class command measure statistic counts observed observed_most run relative {_ENDS} verdict"


def presentation(likeness: Likeness, *, full: bool = False) -> Presentation:
    """The parts of a likeness. `full`: the text has all tables."""

    def text(width: int | None, color: bool) -> str:
        from loadgo.documents.as_text import text_document

        return text_document(likeness_document(likeness), width=width, color=color, short=not full)

    return Presentation(
        lambda: likeness_document(likeness),
        lambda: likeness_json(likeness),
        {
            "figures": lambda: frame_of(likeness.figures, _FIGURES),
            "mixes": lambda: frame_of(likeness.mixes, f"user_class what share {_ENDS} verdict"),
            "distributions": lambda: frame_of(likeness.distributions, f"user_class command measure distance {_ENDS}"),
            "correlations": lambda: frame_of(
                likeness.correlations,
                "user_class command second observed observed_low=observed_interval.low "
                "observed_high=observed_interval.high run run_low=run_interval.low run_high=run_interval.high",
            ),
            "bytes": lambda: frame_of(likeness.bytes, JSON_KEYS[ComparedBytes]),
            "not_compared": lambda: frame_of(likeness.not_compared, JSON_KEYS[Gap]),
            "not_modelled": lambda: frame_of(likeness.not_modelled, JSON_KEYS[Gap]),
        },
        text=text,
    )
