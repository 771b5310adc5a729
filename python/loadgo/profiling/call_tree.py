"""Call trees of a profile: the stacks merged from their outermost frame, below their process, mapping or user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from loadgo.profiling.profile import Frame, Profile, Stack

MOST_CALLS = 8000
"""Largest number of calls in a tree. The calls with the fewest samples are left out, which no page can show anyway."""


@dataclass(frozen=True)
class CallName:
    """The name of a call: a function with its mapping, or a group such as a process, which is in no mapping."""

    text: str
    segment: str | None = None


@dataclass(frozen=True)
class Call:
    """A call in a tree, with the samples in it and in all that it called."""

    name: CallName
    depth: int
    """0 for the calls that nobody in the tree has called."""
    samples: int
    own_samples: int
    """Samples in the call itself."""


@dataclass(frozen=True)
class CallTree:
    """The calls of all stacks, each before those that it made."""

    grouping: str
    """The first level below the root: `process`, `mapping` or `user`."""
    calls: tuple[Call, ...]
    left_out: int
    """Number of the calls with the fewest samples that are left out."""
    left_out_samples: int
    """Largest number of samples of a call that is left out."""


@dataclass
class _Node:
    """A call while the tree grows."""

    samples: int = 0
    own_samples: int = 0
    callees: dict[CallName, _Node] = field(default_factory=dict)


def call_trees(profile: Profile) -> tuple[CallTree, ...]:
    """The trees by process and by mapping, and by user if the records know whose a stack was."""
    groupings: list[tuple[str, Callable[[Stack], tuple[CallName, ...]]]] = [
        ("process", lambda stack: (CallName(stack.process),)),
        ("mapping", _mapping_group),
    ]
    if any(stack.user is not None for stack in profile.stacks):
        groupings.append(("user", _user_group))
    return tuple(_tree(grouping, profile.stacks, group) for grouping, group in groupings)


def _mapping_group(stack: Stack) -> tuple[CallName, ...]:
    """The mapping in which the processor was found, and the process."""
    segment = stack.frames[-1].segment
    return CallName(segment, segment), CallName(stack.process)


def _user_group(stack: Stack) -> tuple[CallName, ...]:
    if stack.user is None:
        return CallName("no user"), CallName(stack.process)
    command = "between commands" if stack.command is None else stack.command
    return CallName(f"user {stack.user}"), CallName(command), CallName(stack.process)


def _tree(grouping: str, stacks: Iterable[Stack], group: Callable[[Stack], tuple[CallName, ...]]) -> CallTree:
    root = _Node()
    for stack in stacks:
        node = root
        for name in (*group(stack), *_calls_of(stack.frames)):
            node = node.callees.setdefault(name, _Node())
            node.samples += stack.samples
        node.own_samples += stack.samples
    calls = list(_in_order(root, 0))
    # A caller has at least the samples of what it calls, and comes first, so no call is kept without its caller.
    by_samples = sorted(range(len(calls)), key=lambda i: -calls[i].samples)
    hidden = [calls[i].samples for i in by_samples[MOST_CALLS:]]
    kept = tuple(calls[i] for i in sorted(by_samples[:MOST_CALLS]))
    return CallTree(grouping, kept, len(hidden), max(hidden, default=0))


def _calls_of(frames: Iterable[Frame]) -> Iterator[CallName]:
    """The calls of a stack. Successive functions without a name in the same mapping are one call."""
    last = None
    for frame in frames:
        name = CallName(frame.place, frame.segment)
        if frame.has_name or name != last:
            yield name
        last = name


def _in_order(node: _Node, depth: int) -> Iterator[Call]:
    """The calls below a node, each before those that it made, the one with the most samples first."""
    waiting = [(depth, name, callee) for name, callee in _by_samples(node)]
    waiting.reverse()
    while waiting:
        at, name, callee = waiting.pop()
        yield Call(name, at, callee.samples, callee.own_samples)
        waiting += [(at + 1, inner, below) for inner, below in reversed(_by_samples(callee))]


def _by_samples(node: _Node) -> list[tuple[CallName, _Node]]:
    def order(entry: tuple[CallName, _Node]) -> tuple[int, str, str]:
        name, callee = entry
        return -callee.samples, name.text, name.segment or ""

    return sorted(node.callees.items(), key=order)
