"""A profile as folded stacks, a line a stack: what flamegraph.pl, inferno and speedscope read."""

from __future__ import annotations

from collections import Counter

from loadgo.profile import Frame, Profile


def folded(profile: Profile) -> str:
    """`process;function;…;function COUNT`, the outermost first, sorted; the kernel's end in `_[k]`."""
    lines: Counter[str] = Counter()
    for stack in profile.stacks:
        lines[";".join([stack.process, *map(_folded, stack.frames)])] += stack.samples
    return "".join(f"{line} {samples}\n" for line, samples in sorted(lines.items()))


def _folded(frame: Frame) -> str:
    """The function; the segment where it has no name."""
    if frame.segment == "[kernel]" and frame.function:
        return f"{frame.function}_[k]"
    if frame.function.startswith("0x") or not frame.function:
        return f"[{frame.segment.rsplit('/', 1)[-1].strip('[]')}]"
    return frame.function
