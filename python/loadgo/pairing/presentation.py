"""An interleaved experiment in every format: its document with JSON, and its changes and pairs as frames."""

from __future__ import annotations

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.pairing.document import experiment_document, experiment_json
from loadgo.pairing.results import Experiment
from loadgo.pairing.words import answer

_CHANGE_COLUMNS = "measure command a b relative low=interval.low high=interval.high verdict more_pairs"


def presentation(experiment: Experiment) -> Presentation:
    """The parts of an experiment. Times in the frames are in nanoseconds; a change without a command is of all."""
    return Presentation(
        lambda: experiment_document(experiment),
        lambda: experiment_json(experiment),
        {
            "changes": lambda: frame_of((*experiment.changes, *experiment.command_changes), _CHANGE_COLUMNS),
            "pairs": lambda: frame_of(
                experiment.pairs,
                "seed first a_folder=a.folder b_folder=b.folder a_errors=a.errors b_errors=b.errors "
                "a_others_share=a.others_share b_others_share=b.others_share",
            ),
            "left_out": lambda: frame_of(experiment.left_out, "letter folder reason"),
        },
        main_tables=("Changes",),
        main_charts=("pairs",),
        answer=lambda: answer(experiment),
    )
