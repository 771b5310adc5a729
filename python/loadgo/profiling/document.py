"""A profile as a document: samples by segment and by function, and page faults by segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import share
from loadgo.profiling.profile import Frame, Profile, Segment, Stack

MOST_SEGMENTS = 12
"""Rows of a table by segment; the rest is one row."""
MOST_FUNCTIONS = 20
UNKNOWN = ("[unknown]", "the kernel told of no mapping there, or the process had just ended.")


_KEYS: Keys = {
    Profile: "of seconds hz samples segments stacks build_ids lost notes status",
    Segment: "name samples faults_minor faults_major",
    Stack: "user command process frames samples",
    Frame: "segment function",
}


def render_profile(
    profile: Profile,
    format: Format = "text",
    *,
    top: int = MOST_FUNCTIONS,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Renders a profile as `format`: text, html, json or md. JSON has all stacks, the others `top` functions.

    `width`, in characters, is for text. Raises `ValueError` for another format.
    """
    return render(
        format,
        lambda: profile_document(profile, top=top),
        lambda: json_document(members_of(profile, _KEYS), _KEYS),
        width=width,
    )


def profile_document(profile: Profile, *, top: int = MOST_FUNCTIONS) -> Document:
    """The document, with at most `top` functions."""
    tables = (_by_segment(profile), _by_function(profile, top), _faults(profile))
    unknown = any(segment.name == UNKNOWN[0] for segment in _faulting(profile))
    return Document(
        title=f"clock profile of {profile.of}",
        answer=_answer(profile),
        sections=tuple(table for table in tables if table is not None),
        notes=(
            *([UNKNOWN] if unknown else []),
            *(("lost", f"{count:,} {what}") for count, what in profile.lost),
            *(("note", note) for note in profile.notes),
        ),
    )


def _answer(profile: Profile) -> str:
    seconds = [] if profile.seconds is None else [f"{profile.seconds:.1f} s"]
    samples = f"{profile.samples:,} samples" + (f" at {profile.hz:,} Hz" if profile.hz else "")
    nothing = "" if profile.samples else "; no sample: nobody used the processors"
    return f"Clock profile: {', '.join([profile.of, *seconds, samples])}{nothing}"


def _by_segment(profile: Profile) -> Table | None:
    seen = [segment for segment in profile.segments if segment.samples]
    if not seen:
        return None
    rows = [(one.name, one.samples or 0, share(2 * profile.off(one.samples or 0))) for one in seen[:MOST_SEGMENTS]]
    if rest := sum(segment.samples or 0 for segment in seen[MOST_SEGMENTS:]):
        rows.append((f"({len(seen) - MOST_SEGMENTS} more)", rest, ""))
    rows.append(("all", profile.samples, ""))
    columns = (
        Column("segment", tuple(name for name, _, _ in rows)),
        *_samples(profile, [samples for _, samples, _ in rows]),
        Column("±", tuple(off for _, _, off in rows)),
    )
    return Table("By segment", columns, total_rows=1, name_width=None)


def _samples(profile: Profile, counts: Sequence[int]) -> tuple[Column, ...]:
    return (
        Column("samples", tuple(f"{count:,}" for count in counts)),
        Column("share", tuple(share(count / profile.samples) for count in counts)),
    )


def _by_function(profile: Profile, top: int) -> Table | None:
    itself: Counter[tuple[str, str]] = Counter()
    within: Counter[tuple[str, str]] = Counter()
    for stack in profile.stacks:
        names = [(frame.place, frame.segment) for frame in stack.frames]
        itself[names[-1]] += stack.samples
        for name in set(names):
            within[name] += stack.samples
    rows = itself.most_common(top)
    columns = (
        Column("function", tuple(function for (function, _), _ in rows)),
        Column("segment", tuple(_file_name(segment) for (_, segment), _ in rows), kind="name"),
        *_samples(profile, [samples for _, samples in rows]),
        Column("in calls", tuple(f"{within[name]:,}" for name, _ in rows)),
    )
    return Table("By function", columns, name_width=None) if rows else None


def _faulting(profile: Profile) -> list[Segment]:
    """Segments with page faults: those with the most major ones first."""
    counted = [segment for segment in profile.segments if segment.faults_minor is not None]
    counted = [segment for segment in counted if segment.faults_minor or segment.faults_major]
    return sorted(counted, key=lambda one: (-(one.faults_major or 0), -(one.faults_minor or 0), one.name))


def _faults(profile: Profile) -> Table | None:
    counted = _faulting(profile)
    rows = [(one.name, [one]) for one in counted[:MOST_SEGMENTS]]
    if rest := counted[MOST_SEGMENTS:]:
        rows.append((f"({len(rest)} more)", rest))
    rows.append(("all", counted))
    columns = (
        Column("page faults in", tuple(name for name, _ in rows)),
        Column("minor", tuple(f"{sum(one.faults_minor or 0 for one in segments):,}" for _, segments in rows)),
        Column("major", tuple(f"{sum(one.faults_major or 0 for one in segments):,}" for _, segments in rows)),
    )
    return Table("Page faults", columns, total_rows=1, name_width=None) if counted else None


def _file_name(segment: str) -> str:
    """A file by its name alone."""
    return segment.rsplit("/", 1)[-1] if segment.startswith("/") else segment
