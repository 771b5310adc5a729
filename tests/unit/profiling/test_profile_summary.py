"""The answer of a profile, and its call trees: what takes the most, who called it, and what has no name."""

from __future__ import annotations

import pytest
from loadgo.profiling.call_tree import MOST_CALLS, CallName, call_trees
from loadgo.profiling.document import profile_document
from loadgo.profiling.profile import Frame, Profile, Segment, Stack
from loadgo.profiling.summary import summary_of

MAIN, WORK = Frame("/usr/bin/prime", "main"), Frame("/usr/bin/prime", "divide<int>(long)")
COPY, CALL = Frame("[kernel]", "copy_page"), Frame("[kernel]", "do_syscall_64")
STRIPPED, LOST = Frame("/lib/stripped.so", "0x1234"), Frame("[unknown]", "")


def profile_with(*stacks: Stack, notes: tuple[str, ...] = ()) -> Profile:
    """A profile of these stacks, with the samples of each mapping."""
    samples: dict[str, int] = {}
    for stack in stacks:
        segment = stack.frames[-1].segment
        samples[segment] = samples.get(segment, 0) + stack.samples
    segments = sorted((Segment(name, count, None, None) for name, count in samples.items()), key=_fewer)
    return Profile("prime 1000", 2.0, 1000, stacks, tuple(segments), notes=notes)


def _fewer(segment: Segment) -> int:
    return -(segment.samples or 0)


MIXED = profile_with(
    Stack(None, None, "prime", (MAIN, WORK), 600),
    Stack(3, "compile", "cc1", (MAIN, CALL, COPY), 280),
    Stack(3, None, "cc1", (STRIPPED,), 100),
    Stack(None, None, "cc1", (LOST,), 20),
)


def answers(profile: Profile) -> list[str]:
    document = profile_document(profile)
    return [document.answer, *document.further_answers]


def test_the_answer_names_what_takes_the_most_and_what_has_no_name() -> None:
    assert answers(MIXED) == [
        "`prime` takes the most: 60.0 % ± 3.1 % of the samples. Of the functions with a name, the one with the most "
        "is `divide<int>(long)`: 60.0 %.",
        "Programs have 72.0 % of the samples, the kernel 28.0 %. 10.0 % have no function's name, and 2.0 % have no "
        "known file.",
    ]
    assert profile_document(MIXED).about == (
        "Clock profile: prime 1000, 2.00 s, 1,000 samples at 1,000 Hz (about 1.00 s of processor time)",
    )


def test_the_answer_says_that_a_flame_graph_without_callers_is_no_call_tree() -> None:
    lone = profile_with(Stack(None, None, "a", (WORK,), 912), Stack(None, None, "a", (MAIN, COPY), 88))
    assert answers(lone)[-1].startswith("Of 91.2 % of the samples the caller is not known, so the flame graph")
    assert not any("caller" in line for line in answers(MIXED)), "12 % have none"


def test_mappings_with_about_as_many_samples_are_not_ordered() -> None:
    close = profile_with(Stack(None, None, "a", (WORK,), 52), Stack(None, None, "a", (COPY,), 48))
    assert answers(close)[0].startswith(
        "The samples do not tell which takes the most: `prime` 52.0 % ± 10.0 % and the kernel 48.0 % ±"
    )
    sure = profile_with(Stack(None, None, "a", (COPY,), 5200), Stack(None, None, "a", (WORK,), 4800))
    assert answers(sure)[0].startswith("The kernel takes the most: 52.0 % ± 1.0 %")


def test_few_samples_and_a_kernel_that_is_not_sampled_are_said() -> None:
    note = "the kernel's part is not here: it takes root, or CAP_PERFMON"
    few = profile_with(Stack(None, None, "a", (WORK,), 7), notes=(note,))
    assert answers(few)[1:] == [
        "Programs only: the kernel's part was not measured. Each sample has a function's name.",
        "Only 7 samples: each share is rough.",
    ]


def test_without_samples_the_answer_is_of_page_faults_or_of_nothing() -> None:
    faults = (Segment("[heap]", None, 900, 10), Segment("/usr/bin/prime", None, 90, 0))
    assert answers(Profile("run x", 1.0, None, (), faults)) == [
        "The clock took no sample. Most page faults are in `[heap]`: 910 of 1,000."
    ]
    assert answers(Profile("this host", 1.0, 1000, (), ())) == [
        "The clock took no sample of this host: nobody used the processors."
    ]


def test_lost_samples_stand_above_the_answer() -> None:
    lost = Profile(
        "x", 1.0, 1000, MIXED.stacks, MIXED.segments, lost=((12, "samples that a full ring had no room for"),)
    )
    assert profile_document(lost).warnings == ("Lost: 12 samples that a full ring had no room for.",)


def test_samples_of_functions_without_a_name_and_without_a_mapping_are_apart() -> None:
    summary = summary_of(MIXED)
    assert (summary.samples, summary.kernel, summary.unnamed, summary.unmapped, summary.callerless) == (
        1000,
        280,
        100,
        20,
        120,
    )


def test_calls_are_merged_from_the_outermost_and_grouped_three_ways() -> None:
    by_process, by_mapping, by_user = call_trees(MIXED)
    calls = [(call.depth, call.name.text, call.samples, call.own_samples) for call in by_process.calls]
    assert calls == [
        (0, "prime", 600, 0),
        (1, "main", 600, 0),
        (2, "divide<int>(long)", 600, 600),
        (0, "cc1", 400, 0),
        (1, "main", 280, 0),
        (2, "do_syscall_64", 280, 0),
        (3, "copy_page", 280, 280),
        (1, "no symbols (stripped.so)", 100, 100),
        (1, "[unknown]", 20, 20),
    ]
    assert [(call.name.text, call.samples) for call in by_mapping.calls if call.depth == 0] == [
        (segment.name, segment.samples) for segment in MIXED.segments
    ]
    groups = [(call.depth, call.name.text, call.samples) for call in by_user.calls if call.depth < 2]
    assert groups == [
        (0, "no user", 620),
        (1, "prime", 600),
        (1, "cc1", 20),
        (0, "user 3", 380),
        (1, "compile", 280),
        (1, "between commands", 100),
    ]


def test_without_users_there_is_no_tree_by_user() -> None:
    trees = call_trees(profile_with(Stack(None, None, "a", (WORK,), 5)))
    assert [tree.grouping for tree in trees] == ["process", "mapping"]


def test_successive_functions_of_a_file_without_symbols_are_one_call_and_recursion_is_kept() -> None:
    chain = tuple(Frame("/lib/stripped.so", f"0x{at}") for at in range(3))
    tree = call_trees(profile_with(Stack(None, None, "a", (MAIN, MAIN, *chain), 5)))[0]
    assert [call.name.text for call in tree.calls] == ["a", "main", "main", "no symbols (stripped.so)"]


@pytest.mark.parametrize("grouping", [0, 1])
def test_a_large_tree_leaves_out_the_calls_with_the_fewest_samples(grouping: int) -> None:
    stacks = [
        Stack(None, None, "a", (MAIN, Frame("/usr/bin/prime", f"f{at}"), Frame("/usr/bin/prime", f"g{at}")), at + 1)
        for at in range(MOST_CALLS)
    ]
    tree = call_trees(profile_with(*stacks))[grouping]
    assert len(tree.calls) == MOST_CALLS
    assert tree.left_out > MOST_CALLS - 10
    assert min(call.samples for call in tree.calls) >= tree.left_out_samples
    path: list[CallName] = []
    for call in tree.calls:  # each has its caller
        assert call.depth <= len(path)
        path[call.depth :] = [call.name]
    assert tree.calls[0].samples == sum(stack.samples for stack in stacks)
