"""A profile as tables: by segment with the top functions, and page faults by segment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from loadgo.profiling.profile import Profile, Segment

MOST_SEGMENTS = 12
MOST_FUNCTIONS = 20
GAP = 3
NAMES = frozenset({"segment", "function", "page faults in"})
"""Heads of columns that hold names."""
UNKNOWN = "[unknown]: the kernel told of no mapping there, or the process had just ended.\n"


def profile_text(profile: Profile, *, width: int, top: int = MOST_FUNCTIONS) -> str:
    """Both tables, `width` columns wide, after one line that says of what."""
    parts = [_head(profile), _by_segment(profile, width), _by_function(profile, width, top), _faults(profile, width)]
    parts.extend(f"lost: {count:,} {what}\n" for count, what in profile.lost)
    parts.extend(f"note: {note}\n" for note in profile.notes)
    return "\n".join(filter(None, parts))


def _head(profile: Profile) -> str:
    of = [profile.of]
    if profile.seconds is not None:
        of.append(f"{profile.seconds:.1f} s")
    of.append(f"{profile.samples:,} samples" + (f" at {profile.hz:,} Hz" if profile.hz else ""))
    return f"Clock profile: {', '.join(of)}\n"


def _by_segment(profile: Profile, width: int) -> str:
    seen = [segment for segment in profile.segments if segment.samples]
    if not seen:
        return "No sample: nobody used the processors.\n"
    rows = [_sampled(profile, segment) for segment in seen[:MOST_SEGMENTS]]
    rest = sum(segment.samples or 0 for segment in seen[MOST_SEGMENTS:])
    if rest:
        rows.append((f"({len(seen) - MOST_SEGMENTS} more)", f"{rest:,}", f"{rest / profile.samples:.1%}", ""))
    rows.append(("all", f"{profile.samples:,}", "100.0%", ""))
    return _table(("segment", "samples", "share", "±"), rows, width)


def _sampled(profile: Profile, segment: Segment) -> tuple[str, ...]:
    samples = segment.samples or 0
    return segment.name, f"{samples:,}", f"{samples / profile.samples:.1%}", f"{2 * profile.off(samples):.1%}"


def _by_function(profile: Profile, width: int, top: int) -> str:
    if not profile.stacks:
        return ""
    itself: Counter[tuple[str, str]] = Counter()
    within: Counter[tuple[str, str]] = Counter()
    for stack in profile.stacks:
        names = [(frame.place, frame.segment) for frame in stack.frames]
        itself[names[-1]] += stack.samples
        for name in set(names):
            within[name] += stack.samples
    rows = [
        (
            function,
            _short(segment),
            f"{samples:,}",
            f"{samples / profile.samples:.1%}",
            f"{within[function, segment]:,}",
        )
        for (function, segment), samples in itself.most_common(top)
    ]
    return _table(("function", "segment", "samples", "share", "in calls"), rows, width)


def _faults(profile: Profile, width: int) -> str:
    counted = [segment for segment in profile.segments if segment.faults_minor is not None]
    counted = [segment for segment in counted if segment.faults_minor or segment.faults_major]
    if not counted:
        return ""
    counted.sort(key=lambda one: (-(one.faults_major or 0), -(one.faults_minor or 0), one.name))
    rows = [(one.name, f"{one.faults_minor or 0:,}", f"{one.faults_major or 0:,}") for one in counted[:MOST_SEGMENTS]]
    rest = counted[MOST_SEGMENTS:]
    if rest:
        rows.append((f"({len(rest)} more)", *_sums(rest)))
    rows.append(("all", *_sums(counted)))
    unknown = any(segment.name == "[unknown]" for segment in counted)
    return _table(("page faults in", "minor", "major"), rows, width) + (UNKNOWN if unknown else "")


def _sums(segments: Sequence[Segment]) -> tuple[str, str]:
    return f"{sum(one.faults_minor or 0 for one in segments):,}", f"{sum(one.faults_major or 0 for one in segments):,}"


def _short(segment: str) -> str:
    """A file by its name alone."""
    return segment.rsplit("/", 1)[-1] if segment.startswith("/") else segment


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]], width: int) -> str:
    """Numbers keep their width; names share what they leave, the first having the most."""
    longest = [max(len(row[place]) for row in (heads, *rows)) for place in range(len(heads))]
    named = [place for place, head in enumerate(heads) if head in NAMES]
    left = width - 2 - sum(GAP + longest[place] for place in range(len(heads)) if place not in named)
    for place in reversed(named):
        longest[place] = min(longest[place], left - GAP if place == 0 else left * 2 // 5)
        left -= longest[place] + GAP
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place in named else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(_fit(cell, longest[place]) for place, cell in enumerate(row)))
    console = Console(markup=False, highlight=False, emoji=False, width=width)
    with console.capture() as captured:
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines() if line.strip())


def _fit(name: str, width: int) -> str:
    """A long path keeps its end, which tells most; a long function its beginning."""
    if len(name) <= width:
        return name
    return f"…{name[1 - width :]}" if name.startswith("/") else f"{name[: width - 1]}…"
