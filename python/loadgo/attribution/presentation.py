"""A speed-up in every format: its document with JSON and charts, and its causes as a frame."""

from __future__ import annotations

from loadgo.attribution.document import speedup_document, speedup_json
from loadgo.attribution.results import Speedup
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation


def presentation(speedup: Speedup) -> Presentation:
    """The parts of a speed-up. Times in the frames are in nanoseconds."""
    causes = [{"figure": caused, "cause": cause} for caused in speedup.causes for cause in caused.causes]
    return Presentation(
        lambda: speedup_document(speedup),
        lambda: speedup_json(speedup),
        {
            "causes": lambda: frame_of(
                causes,
                "measure=figure.measure change=cause.name factor=cause.factor low=cause.interval.low "
                "high=cause.interval.high first=cause.first last=cause.last saved=cause.saved unit=figure.unit "
                "interacts=cause.interacts",
            ),
            "figures": lambda: frame_of(
                speedup.causes, "measure unit before after ratio low=interval.low high=interval.high"
            ),
        },
    )
