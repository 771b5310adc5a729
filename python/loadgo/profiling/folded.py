"""A profile as folded stacks, a line a stack: what flamegraph.pl, inferno and speedscope read."""

from __future__ import annotations

from collections import Counter

from loadgo.profiling.profile import Frame, Profile


def folded(profile: Profile) -> str:
    """`process;function;…;function COUNT`, the outermost first, sorted; the kernel's end in `_[k]`."""
    lines: Counter[str] = Counter()
    for stack in profile.stacks:
        lines[";".join([stack.process, *map(_folded, stack.frames)])] += stack.samples
    return "".join(f"{line} {samples}\n" for line, samples in sorted(lines.items()))


def _folded(frame: Frame) -> str:
    """Its place; of the kernel with the mark that viewers colour."""
    named = frame.place != frame.segment
    return f"{frame.place}_[k]" if frame.segment == "[kernel]" and named else frame.place
