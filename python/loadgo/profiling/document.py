"""A profile as a document: what takes the most, samples by mapping and by function, and page faults by mapping."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.documents.as_json import Keys, json_document, members_of
from loadgo.documents.document import Document
from loadgo.documents.short_names import short_name
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import as_code, counted, cut, in_words, seconds, share
from loadgo.profiling.profile import CALLERLESS_SHARE, KERNEL_SEGMENT, UNKNOWN_SEGMENT, Frame, Profile, Segment, Stack
from loadgo.profiling.summary import FunctionSamples, ProfileSummary, function_samples, summary_of

SHOWN_MAPPINGS = 12
"""Rows of a table by mapping; one more row has the sum of all others."""
DEFAULT_SHOWN_FUNCTIONS = 20
OWN_PROCESSES = frozenset({"loadgo", "loadgo-agent"})
"""The names of loadgo's processes. Programs that its users run, such as `loadgo-calculator`, are none of them."""
OWN_SHARE = 0.05
"""The answer names loadgo's own part of the samples from this share on."""
FEWEST_SAMPLES = 100
"""With fewer samples, the answer says that there are few: a share of a half is then off by 10 %."""
MOST_LEADERS = 3
"""Most mappings that the answer names, if none of them surely has the most samples."""
MOST_ANSWER_NAME_CHARS = 48
_MAPPING_NOTE = ("mapping", "what an address belongs to: a file, or [kernel], [heap], [stack], [vdso], [anon].")
UNKNOWN_MAPPING_NOTE = (UNKNOWN_SEGMENT, "the kernel reported no mapping there, or the process had just ended.")
_NO_SYMBOLS_NOTE = (
    "all functions of that file in one row: it was stripped of their names, or has changed since it ran. Its debug "
    "symbols bring them back: NAME-dbgsym (Debian), NAME-debuginfo (Fedora), or a build without `strip`."
)
LATE_CLOCK_FUNCTIONS = frozenset({"_raw_spin_unlock_irqrestore", "_raw_spin_unlock_irq", "exc_page_fault"})
"""Functions of the kernel that allow interrupts again, so that they have samples of what ran before them."""
_UNNAMED_SHARE = 0.1
"""Share of samples without a function's name from which the functions are trusted less. Chosen by hand."""
_ERROR_FOOT = "±: twice the standard error of the share."
_CALLS_FOOT = f"{_ERROR_FOOT} with its calls: samples in the function itself, and in all that it called."
MOST_SUBJECT_CHARS = 60
"""Largest number of characters of a profiled command."""


PROFILE_KEYS: Keys = {
    Profile: "of seconds hz samples segments stacks build_ids lost notes status",
    ProfileSummary: "samples kernel kernel_measured unnamed unmapped callerless leaders leading_function",
    FunctionSamples: "function segment has_name samples samples_in_calls",
    Segment: "name samples faults_minor faults_major",
    Stack: "user command process frames samples",
    Frame: "segment function",
}


def profile_json(profile: Profile) -> str:
    """The profile and its summary as JSON."""
    more = {"summary": summary_of(profile), "warnings": _warnings(profile)}
    return json_document(members_of(profile, PROFILE_KEYS) | more, PROFILE_KEYS)


def profile_document(profile: Profile, *, top: int = DEFAULT_SHOWN_FUNCTIONS) -> Document:
    """The document, with at most `top` functions."""
    functions = [function for function in function_samples(profile) if function.samples]
    tables = (_segment_table(profile), _function_table(profile, functions[:top]), _fault_table(profile))
    unknown = any(segment.name == UNKNOWN_SEGMENT for segment in _faulting_segments(profile))
    late = [function.function for function in functions[:top] if function.function in LATE_CLOCK_FUNCTIONS]
    answer, *further_answers = _answers(profile, summary_of(profile))
    return Document(
        title=f"clock profile of {profile.of}",
        answer=answer,
        further_answers=tuple(further_answers),
        trust=_trust(profile, summary_of(profile)),
        warnings=_warnings(profile),
        about=(_about(profile),),
        sections=tuple(table for table in tables if table is not None),
        notes=(
            *([_MAPPING_NOTE] if profile.segments else []),
            *([UNKNOWN_MAPPING_NOTE] if unknown else []),
            *([("no symbols", _NO_SYMBOLS_NOTE)] if any(not one.has_name for one in functions[:top]) else []),
            *([("kernel", _late_clock_note(late))] if late else []),
            *(("note", note) for note in profile.notes),
        ),
    )


def _warnings(profile: Profile) -> tuple[str, ...]:
    """The samples that the profile has lost."""
    return tuple(f"Lost: {count:,} {what}." for count, what in profile.lost if count)


def _late_clock_note(functions: Sequence[str]) -> str:
    return (
        f"samples in {in_words([*map(as_code, functions)])} may be of the kernel's work just before: the clock does "
        "not tick while interrupts are off."
    )


def _about(profile: Profile) -> str:
    """The subject of the profile and the number of its samples."""
    subject = cut(" ".join(profile.of.split()), MOST_SUBJECT_CHARS)
    length = [] if profile.seconds is None else [seconds(profile.seconds)]
    samples = counted(profile.samples, "sample") + (f" at {profile.hz:,} Hz" if profile.hz else "")
    if profile.hz and profile.samples:
        samples += f" (about {seconds(profile.samples / profile.hz)} of processor time)"
    return f"Clock profile: {', '.join([subject, *length, samples])}"


def _answers(profile: Profile, summary: ProfileSummary) -> list[str]:
    """Sentences: what takes the most; then the parts of programs and of the kernel, and the samples without a name."""
    if not summary.samples:
        return [_answer_without_samples(profile)]
    few = [f"Only {counted(summary.samples, 'sample')}: each share is rough."]
    return [
        f"{_leader_sentence(profile, summary)}{_function_sentence(profile, summary)}",
        f"{_kernel_sentence(summary)} {_name_sentence(profile, summary)}",
        *_own_sentences(profile, summary),
        *_callers_sentence(profile, summary),
        *(few if summary.samples < FEWEST_SAMPLES else []),
    ]


def _trust(profile: Profile, summary: ProfileSummary) -> str:
    """The line on whether to believe the shares; empty without samples."""
    if not summary.samples:
        return ""
    against, grounds = [], [f"{counted(summary.samples, 'sample')} of a clock, each share with its error (±)"]
    if summary.samples < FEWEST_SAMPLES:
        against.append("there are few samples")
    if (unknown := (summary.unnamed + summary.unmapped) / summary.samples) > _UNNAMED_SHARE:
        against.append(f"{share(unknown)} of the samples have no function's name")
    if not summary.kernel_measured:
        against.append("the kernel's part was not measured")
    is_lost = any(count for count, _ in profile.lost)
    grounds += [] if is_lost else ["none lost"]
    return trust_in_words(Evidence(tuple(against), tuple(grounds)), is_warned=is_lost)


def _own_sentences(profile: Profile, summary: ProfileSummary) -> list[str]:
    """A sentence on the part of loadgo itself, such as in a profile of `loadgo run`; empty for a small part."""
    own = sum(stack.samples for stack in profile.stacks if stack.process in OWN_PROCESSES) / summary.samples
    if own < OWN_SHARE:
        return []
    sentence = f"{share(own)} of the samples are of loadgo itself, not of its users."
    if all(stack.user is None for stack in profile.stacks):
        sentence += (
            " For the users' part, run with `--meters exact`, and group the page of `loadgo profile --of RUN --format "
            "html` by user."
        )
    return [sentence]


def _answer_without_samples(profile: Profile) -> str:
    faulting = _faulting_segments(profile)
    if not faulting:
        return f"The clock took no sample of {profile.of}: nobody used the processors."
    most = max(faulting, key=lambda segment: (segment.faults_minor or 0) + (segment.faults_major or 0))
    total = sum((segment.faults_minor or 0) + (segment.faults_major or 0) for segment in faulting)
    faults = (most.faults_minor or 0) + (most.faults_major or 0)
    return f"The clock took no sample. Most page faults are in {_mapping(most.name)}: {faults:,} of {total:,}."


def _leader_sentence(profile: Profile, summary: ProfileSummary) -> str:
    """Names the mapping with the most samples, or those that may have the most."""
    shares = [_share_with_error(profile, segment.samples or 0) for segment in summary.leaders]
    if len(summary.leaders) == 1:
        leader = summary.leaders[0].name
        name = "The kernel" if leader == KERNEL_SEGMENT else _mapping(leader)
        return f"{name} takes the most: {shares[0]} of the samples."
    named = [f"{_mapping(segment.name)} {part}" for segment, part in zip(summary.leaders, shares, strict=True)]
    return f"The samples do not tell which takes the most: {in_words(named, MOST_LEADERS)}."


def _share_with_error(profile: Profile, samples: int) -> str:
    """A share with twice its standard error."""
    return f"{share(samples / profile.samples)} ± {share(2 * profile.off(samples))}"


def _function_sentence(profile: Profile, summary: ProfileSummary) -> str:
    leading = summary.leading_function
    if leading is None:
        return " No function has a name." if profile.stacks else " The records have no stacks, so no functions."
    name = short_name(leading.function, MOST_ANSWER_NAME_CHARS)
    in_leader = [leading.segment] == [segment.name for segment in summary.leaders]
    place = "" if in_leader else f" in {_mapping(leading.segment)}"
    # A file without symbols has one row for all its functions, which may have more samples than any function.
    which = "Of the functions with a name, the one" if summary.unnamed else "The function"
    return f" {which} with the most is {as_code(name)}{place}: {share(leading.samples / profile.samples)}."


def _kernel_sentence(summary: ProfileSummary) -> str:
    if not summary.kernel_measured:
        return "Programs only: the kernel's part was not measured."
    kernel = summary.kernel / summary.samples
    return f"Programs have {share(1 - kernel)} of the samples, the kernel {share(kernel)}."


def _name_sentence(profile: Profile, summary: ProfileSummary) -> str:
    """The samples that cannot be attributed to a function or to a mapping."""
    unnamed, unmapped = summary.unnamed / summary.samples, summary.unmapped / summary.samples
    lacking = [f"{share(unnamed)} have no function's name"] if summary.unnamed else []
    lacking += [f"{share(unmapped)} have no known file"] if summary.unmapped else []
    named = "Each sample has a function's name." if profile.stacks else "Each sample has a known file."
    return f"{', and '.join(lacking)}." if lacking else named


def _callers_sentence(profile: Profile, summary: ProfileSummary) -> list[str]:
    """A warning that the stacks are no call tree, where many samples have no caller; else empty."""
    without = summary.callerless / summary.samples
    if not profile.stacks or without < CALLERLESS_SHARE or summary.samples < FEWEST_SAMPLES:
        return []
    return [
        f"Of {share(without)} of the samples the caller is not known, so the flame graph has their functions side by "
        "side, and not below their callers. Code that is built with -fno-omit-frame-pointer has callers."
    ]


def _mapping(name: str) -> str:
    """A mapping in a sentence."""
    return "the kernel" if name == KERNEL_SEGMENT else as_code(short_name(_file_name(name), MOST_ANSWER_NAME_CHARS))


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
        Column("mapping", tuple(name for name, _, _ in rows)),
        *_sample_columns(profile, [samples for _, samples, _ in rows]),
        Column("±", tuple(off for _, _, off in rows)),
    )
    return Table("By mapping", columns, total_rows=1, name_width=None, foot=_ERROR_FOOT)


def _sample_columns(profile: Profile, counts: Sequence[int]) -> tuple[Column, ...]:
    return (
        Column("samples", tuple(f"{count:,}" for count in counts)),
        Column("share", tuple(share(count / profile.samples) for count in counts)),
    )


def _function_table(profile: Profile, functions: Sequence[FunctionSamples]) -> Table | None:
    """Samples in each function itself, and in it with the functions that it called."""
    columns = (
        Column("function", tuple(one.function for one in functions)),
        Column("mapping", tuple(_file_name(one.segment) for one in functions), kind="name"),
        *_sample_columns(profile, [one.samples for one in functions]),
        Column("±", tuple(share(2 * profile.off(one.samples)) for one in functions)),
        Column("with its calls", tuple(f"{one.samples_in_calls:,}" for one in functions)),
    )
    return Table("By function", columns, name_width=None, foot=_CALLS_FOOT) if functions else None


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
