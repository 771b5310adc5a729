"""A ready message in every format: its document with JSON, and its figures and runs as frames."""

from __future__ import annotations

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.ready_message.document import ready_document, ready_text
from loadgo.ready_message.ready import READY_FIGURES, Ready

_RUN_COLUMNS = (
    "stage real_ns cpu_ns cpu_user_ns cpu_system_ns ready_wait_ns paging_wait_ns io_wait_ns faults_minor faults_major "
    "max_resident_bytes switches_voluntary=waited.switches_voluntary "
    "switches_involuntary=waited.switches_involuntary exit_status signal status"
)


def presentation(ready: Ready) -> Presentation:
    """The parts of a ready message. The cost among the figures is money at the message's tariff."""
    figures = [
        {"stage": stage, "figure": name, "spread": ready.spread(name, stage)}
        for stage in ready.stages
        for name in READY_FIGURES
    ]

    def json() -> str:
        from loadgo.ready_message.as_json import ready_json

        return ready_json(ready)

    return Presentation(
        lambda: ready_document(ready),
        json,
        {
            "figures": lambda: frame_of(
                figures,
                "stage figure runs=spread.runs median=spread.median low=spread.low high=spread.high "
                "least=spread.least most=spread.most",
            ),
            "runs": lambda: frame_of(ready.runs, _RUN_COLUMNS),
        },
        text=lambda width, color: ready_text(ready, width=width, color=color),
    )
