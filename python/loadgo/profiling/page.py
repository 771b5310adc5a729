"""A profile as one HTML file: the document, and a flame graph that can be searched and zoomed."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from loadgo.documents.as_html import html_document, json_in_html, template
from loadgo.documents.document import Document
from loadgo.documents.short_names import name_forms, short_name
from loadgo.notation.figures import counted, plain, share
from loadgo.profiling.call_tree import CallName, CallTree, call_trees
from loadgo.profiling.profile import CALLERLESS_SHARE, Profile

MOST_LEGEND_CHARS = 40
"""Largest number of characters of a mapping in the legend."""


def html_profile(profile: Profile, document: Document) -> str:
    """The complete page. Without JavaScript it has the document's tables; without stacks it has no flame graph."""
    trees = call_trees(profile) if profile.stacks else ()
    return html_document(
        document,
        template("profile.html", __name__),
        template("flame.css", __name__),
        code=[template("flame.js", __name__)] if trees else [],
        has_calls=bool(trees),
        heading=_heading(profile),
        caption=_caption(profile, trees),
        calls=Markup(json_in_html(flame_data(profile, trees))),
    )


def flame_data(profile: Profile, trees: tuple[CallTree, ...]) -> dict[str, Any]:
    """The data of the flame graph: mappings, names, and calls as four numbers each (name, depth, samples, own)."""
    samples_of = {segment.name: segment.samples or 0 for segment in profile.segments}
    on_stacks = {frame.segment for stack in profile.stacks for frame in stack.frames}
    segments = sorted(on_stacks, key=lambda name: (-samples_of.get(name, 0), name))
    names: dict[CallName, int] = {}
    return {
        "samples": sum(stack.samples for stack in profile.stacks),
        "segments": [
            {
                "name": plain(name),
                "short": short_name(plain(name), MOST_LEGEND_CHARS),
                "samples": samples_of.get(name, 0),
            }
            for name in segments
        ],
        "trees": [{"grouping": tree.grouping, "calls": _numbers(tree, names)} for tree in trees],
        "names": [_name_entry(name, segments) for name in names],
    }


def _numbers(tree: CallTree, names: dict[CallName, int]) -> list[int]:
    """The calls of a tree as numbers. New names get the next numbers in `names`."""
    calls = ((names.setdefault(call.name, len(names)), call) for call in tree.calls)
    return [part for name, call in calls for part in (name, call.depth, call.samples, call.own_samples)]


def _name_entry(name: CallName, segments: list[str]) -> dict[str, Any]:
    """A name in its forms, the longest first, and the number of its mapping; −1 for a group without one."""
    if name.segment is None:
        return {"forms": [plain(name.text)], "segment": -1}
    return {"forms": list(name_forms(plain(name.text))), "segment": segments.index(name.segment)}


def _heading(profile: Profile) -> str:
    """The heading of the picture: where many samples have no caller, it is no call tree."""
    is_tree = profile.callerless < CALLERLESS_SHARE * sum(stack.samples for stack in profile.stacks)
    return "Flame graph" if is_tree else "Flame graph, with the callers as far as they are known"


def _caption(profile: Profile, trees: tuple[CallTree, ...]) -> str:
    """How the picture is read, and what it does not have."""
    if not trees:
        return ""
    samples, without_caller = sum(stack.samples for stack in profile.stacks), profile.callerless
    sentences = ["Callers stand above the functions that they called; a box is as wide as its samples."]
    if without_caller == samples:
        sentences.append("The stacks have no callers: each sample has its function alone.")
    elif without_caller:
        sentences.append(f"{share(without_caller / samples)} of the samples have no caller.")
    if left_out := max(tree.left_out for tree in trees):
        most = max(tree.left_out_samples for tree in trees)
        sentences.append(f"Left out: {counted(left_out, 'call')} with at most {counted(most, 'sample')} each.")
    if not any(tree.grouping == "user" for tree in trees):
        sentences.append(
            "The samples are not known by user: that takes a run with --meters cheap,profile or exact (--of RUN)."
        )
    return " ".join(sentences)
