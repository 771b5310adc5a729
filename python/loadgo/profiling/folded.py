"""A profile as folded stacks, one line for each stack: the format of flamegraph.pl, inferno and speedscope."""

from __future__ import annotations

from collections import Counter

from loadgo.profiling.profile import Frame, Profile


def folded(profile: Profile) -> str:
    """Sorted lines `process;function;…;function COUNT`, the outermost first. Names of the kernel end in `_[k]`."""
    lines: Counter[str] = Counter()
    for stack in profile.stacks:
        lines[";".join([stack.process, *map(_folded, stack.frames)])] += stack.samples
    return "".join(f"{line} {samples}\n" for line, samples in sorted(lines.items()))


def _folded(frame: Frame) -> str:
    """The frame's name. A function of the kernel has the suffix that viewers colour."""
    is_function = frame.place != frame.segment
    return f"{frame.place}_[k]" if frame.segment == "[kernel]" and is_function else frame.place
