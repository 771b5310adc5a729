"""The texts about a document of a user's own, whose figures are checked against each other and nothing else."""

from __future__ import annotations

from loadgo.notation.figures import counted
from loadgo.published.finding import contradictions_in_words
from loadgo.reproduction.reproduce import ReproducedDocument

NO_MODEL_SENTENCE = "No model computes it, so no figure of ours stands beside its own."


def own_answer(reproduced: ReproducedDocument) -> str:
    """Whether the document's figures contradict each other."""
    printed = reproduced.document
    figures, claims = len(printed.figures), sum(len(relation.claims) for relation in printed.relations)
    if clause := contradictions_in_words(reproduced.findings):
        return f"{clause}."
    if not claims:
        return f"{printed.name} has {counted(figures, 'figure')}, and nothing by which one could be checked."
    hold = "The one relation holds" if claims == 1 else f"All {claims} relations hold"
    return f"{hold} between the {counted(figures, 'figure')} of {printed.name}."
