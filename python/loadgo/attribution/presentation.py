"""A speed-up in every format: its document with JSON and charts, and its causes as a frame."""

from __future__ import annotations

from loadgo.attribution.document import speedup_document, speedup_json
from loadgo.attribution.results import Speedup
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation


def presentation(speedup: Speedup) -> Presentation:
    """The parts of a speed-up. Times in the frames are in nanoseconds.

    `ratio`, `factor` and their `low` and `high` are A over B, `b_over_a` is B over A.
    """
    causes = [{"figure": caused, "cause": cause} for caused in speedup.causes for cause in caused.causes]
    return Presentation(
        lambda: speedup_document(speedup),
        lambda: speedup_json(speedup),
        {
            "causes": lambda: frame_of(
                causes,
                "measure=figure.measure change=cause.name b_over_a=cause.b_over_a "
                "b_over_a_low=cause.b_over_a_interval.low b_over_a_high=cause.b_over_a_interval.high "
                "factor=cause.factor low=cause.interval.low "
                "high=cause.interval.high first=cause.first last=cause.last saved=cause.saved unit=figure.unit "
                "interacts=cause.interacts",
            ),
            "figures": lambda: frame_of(
                speedup.causes,
                "measure unit before after b_over_a b_over_a_low=b_over_a_interval.low "
                "b_over_a_high=b_over_a_interval.high ratio low=interval.low high=interval.high",
            ),
        },
    )
