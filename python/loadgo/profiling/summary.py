"""The findings of a profile: what takes the most, the part of the kernel, and the samples that have no name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from loadgo.profiling.profile import KERNEL_LEFT_OUT_NOTE, KERNEL_SEGMENT, UNKNOWN_SEGMENT, Profile, Segment

SURE_STANDARD_ERRORS = 2.0
"""Two shares differ if their difference exceeds this number of its standard errors."""


@dataclass(frozen=True)
class FunctionSamples:
    """A function and its samples."""

    function: str
    """The function's name for people, as `Frame.place` has it."""
    segment: str
    has_name: bool
    """False for the functions of a file without symbols, which are one."""
    samples: int
    """Samples in the function itself."""
    samples_in_calls: int
    """Samples in the function, or in functions that it called."""


@dataclass(frozen=True)
class ProfileSummary:
    """The findings of a profile. All counts are of samples."""

    samples: int
    leaders: tuple[Segment, ...]
    """The mapping with the most samples. Several, if the samples do not tell which of them has the most."""
    leading_function: FunctionSamples | None
    """The function with the most samples; None if the records have no stacks, or no function has a name."""
    kernel: int
    kernel_measured: bool
    """False if this host does not allow this user to sample the kernel."""
    unnamed: int
    """Samples in a known mapping, in a function without a name."""
    unmapped: int
    """Samples without a known mapping."""
    callerless: int
    """Samples whose stack has no caller."""


def summary_of(profile: Profile) -> ProfileSummary:
    """Sums up a profile."""
    by_segment = {segment.name: segment.samples or 0 for segment in profile.segments}
    unnamed = [stack for stack in profile.stacks if not stack.frames[-1].has_name]
    return ProfileSummary(
        samples=profile.samples,
        leaders=_leaders([segment for segment in profile.segments if segment.samples], profile.samples),
        leading_function=next(
            (function for function in function_samples(profile) if function.has_name and function.samples), None
        ),
        kernel=by_segment.get(KERNEL_SEGMENT, 0),
        kernel_measured=not any(note.startswith(KERNEL_LEFT_OUT_NOTE) for note in profile.notes),
        unnamed=sum(stack.samples for stack in unnamed if stack.frames[-1].segment != UNKNOWN_SEGMENT),
        unmapped=by_segment.get(UNKNOWN_SEGMENT, 0),
        callerless=profile.callerless,
    )


def function_samples(profile: Profile) -> list[FunctionSamples]:
    """The functions of the stacks, those with the most samples of their own first, then by those in calls and name."""
    innermost: Counter[tuple[str, str, bool]] = Counter()
    anywhere: Counter[tuple[str, str, bool]] = Counter()
    for stack in profile.stacks:
        names = [(frame.place, frame.segment, frame.has_name) for frame in stack.frames]
        innermost[names[-1]] += stack.samples
        for name in set(names):
            anywhere[name] += stack.samples
    ordered = sorted(anywhere, key=lambda name: (-innermost[name], -anywhere[name], name))
    return [FunctionSamples(*name, innermost[name], anywhere[name]) for name in ordered]


def _leaders(segments: Sequence[Segment], samples: int) -> tuple[Segment, ...]:
    """The mapping with the most samples, and those that may have as many: `segments` are ordered by samples."""
    if not segments:
        return ()
    most = (segments[0].samples or 0) / samples
    return tuple(segment for segment in segments if not _surely_fewer((segment.samples or 0) / samples, most, samples))


def _surely_fewer(share: float, most: float, samples: int) -> bool:
    """Whether a share is smaller than the share `most` of the same samples, by the multinomial distribution."""
    difference = most - share
    variance = (most + share - difference**2) / samples
    return difference > SURE_STANDARD_ERRORS * sqrt(variance)
