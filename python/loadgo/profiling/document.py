"""A profile as a document: samples by mapping and by function, and page faults by mapping."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.render import Format, render
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import share
from loadgo.profiling.profile import Frame, Profile, Segment, Stack

SHOWN_MAPPINGS = 12
"""Rows of a table by mapping; one more row has the sum of all others."""
DEFAULT_SHOWN_FUNCTIONS = 20
UNKNOWN_MAPPING_NOTE = ("[unknown]", "the kernel reported no mapping there, or the process had just ended.")


PROFILE_KEYS: Keys = {
    Profile: "of seconds hz samples segments stacks build_ids lost notes status",
    Segment: "name samples faults_minor faults_major",
    Stack: "user command process frames samples",
    Frame: "segment function",
}


def render_profile(
    profile: Profile,
    format: Format = "text",
    *,
    top: int = DEFAULT_SHOWN_FUNCTIONS,
    width: int | None = None,
    color: bool = False,
) -> str:
    """Renders a profile as `format`: text, html, json or md. JSON has all stacks, the others `top` functions.

    `width`, in characters, is for text. Raises `ValueError` for another format.
    """
    return render(
        format,
        lambda: profile_document(profile, top=top),
        lambda: json_document(members_of(profile, PROFILE_KEYS), PROFILE_KEYS),
        width=width,
    )


def profile_document(profile: Profile, *, top: int = DEFAULT_SHOWN_FUNCTIONS) -> Document:
    """The document, with at most `top` functions."""
    tables = (_segment_table(profile), _function_table(profile, top), _fault_table(profile))
    unknown = any(segment.name == UNKNOWN_MAPPING_NOTE[0] for segment in _faulting_segments(profile))
    return Document(
        title=f"clock profile of {profile.of}",
        answer=_answer(profile),
        sections=tuple(table for table in tables if table is not None),
        notes=(
            *([UNKNOWN_MAPPING_NOTE] if unknown else []),
            *(("lost", f"{count:,} {what}") for count, what in profile.lost),
            *(("note", note) for note in profile.notes),
        ),
    )


def _answer(profile: Profile) -> str:
    seconds = [] if profile.seconds is None else [f"{profile.seconds:.1f} s"]
    samples = f"{profile.samples:,} samples" + (f" at {profile.hz:,} Hz" if profile.hz else "")
    nothing = "" if profile.samples else "; no sample: nobody used the processors"
    return f"Clock profile: {', '.join([profile.of, *seconds, samples])}{nothing}"


def _segment_table(profile: Profile) -> Table | None:
    sampled = [segment for segment in profile.segments if segment.samples]
    if not sampled:
        return None
    shown = [(segment.name, segment.samples or 0) for segment in sampled[:SHOWN_MAPPINGS]]
    rows = [(name, samples, share(2 * profile.off(samples))) for name, samples in shown]
    if hidden_samples := sum(segment.samples or 0 for segment in sampled[SHOWN_MAPPINGS:]):
        rows.append((f"({len(sampled) - SHOWN_MAPPINGS} more)", hidden_samples, ""))
    rows.append(("all", profile.samples, ""))
    columns = (
        Column("segment", tuple(name for name, _, _ in rows)),
        *_sample_columns(profile, [samples for _, samples, _ in rows]),
        Column("±", tuple(off for _, _, off in rows)),
    )
    return Table("By segment", columns, total_rows=1, name_width=None)


def _sample_columns(profile: Profile, counts: Sequence[int]) -> tuple[Column, ...]:
    return (
        Column("samples", tuple(f"{count:,}" for count in counts)),
        Column("share", tuple(share(count / profile.samples) for count in counts)),
    )


def _function_table(profile: Profile, top: int) -> Table | None:
    """Samples in each function itself, and in it with the functions that it called (`in calls`)."""
    innermost: Counter[tuple[str, str]] = Counter()
    anywhere: Counter[tuple[str, str]] = Counter()
    for stack in profile.stacks:
        names = [(frame.place, frame.segment) for frame in stack.frames]
        innermost[names[-1]] += stack.samples
        for name in set(names):
            anywhere[name] += stack.samples
    rows = innermost.most_common(top)
    columns = (
        Column("function", tuple(function for (function, _), _ in rows)),
        Column("segment", tuple(_file_name(segment) for (_, segment), _ in rows), kind="name"),
        *_sample_columns(profile, [samples for _, samples in rows]),
        Column("in calls", tuple(f"{anywhere[name]:,}" for name, _ in rows)),
    )
    return Table("By function", columns, name_width=None) if rows else None


def _faulting_segments(profile: Profile) -> list[Segment]:
    """The mappings with page faults: first those with the most major faults."""
    counted = [segment for segment in profile.segments if segment.faults_minor is not None]
    counted = [segment for segment in counted if segment.faults_minor or segment.faults_major]
    return sorted(
        counted, key=lambda segment: (-(segment.faults_major or 0), -(segment.faults_minor or 0), segment.name)
    )


def _fault_table(profile: Profile) -> Table | None:
    faulting = _faulting_segments(profile)
    rows = [(segment.name, [segment]) for segment in faulting[:SHOWN_MAPPINGS]]
    if hidden := faulting[SHOWN_MAPPINGS:]:
        rows.append((f"({len(hidden)} more)", hidden))
    rows.append(("all", faulting))
    columns = (
        Column("page faults in", tuple(name for name, _ in rows)),
        Column("minor", tuple(f"{sum(segment.faults_minor or 0 for segment in group):,}" for _, group in rows)),
        Column("major", tuple(f"{sum(segment.faults_major or 0 for segment in group):,}" for _, group in rows)),
    )
    return Table("Page faults", columns, total_rows=1, name_width=None) if faulting else None


def _file_name(segment: str) -> str:
    """The file name of a mapping's path; any other mapping as it is."""
    return segment.rsplit("/", 1)[-1] if segment.startswith("/") else segment
