"""A profile in every format: document, page with a flame graph, JSON, and functions, segments and stacks as frames."""

from __future__ import annotations

from collections import Counter

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.profiling.document import DEFAULT_SHOWN_FUNCTIONS, profile_document, profile_json
from loadgo.profiling.profile import Profile


def presentation(profile: Profile, *, top: int = DEFAULT_SHOWN_FUNCTIONS) -> Presentation:
    """The parts of a profile. The document shows at most `top` functions; frames and JSON have all."""
    return Presentation(
        lambda: profile_document(profile, top=top),
        lambda: profile_json(profile),
        {
            "functions": lambda: frame_of(_functions(profile), "function segment samples samples_in_calls share"),
            "segments": lambda: frame_of(profile.segments, "name samples faults_minor faults_major"),
            "stacks": lambda: frame_of(
                ({"stack": stack, "frames": [frame.text for frame in stack.frames]} for stack in profile.stacks),
                "user=stack.user command=stack.command process=stack.process samples=stack.samples frames",
            ),
        },
        main_tables=("By function",),
        page=lambda: _page(profile, top),
    )


def _page(profile: Profile, top: int) -> str:
    from loadgo.profiling.page import html_profile

    return html_profile(profile, profile_document(profile, top=top))


def _functions(profile: Profile) -> list[dict[str, object]]:
    """The samples in each function itself, and in it with the functions that it called, the most frequent first."""
    innermost: Counter[tuple[str, str]] = Counter()
    anywhere: Counter[tuple[str, str]] = Counter()
    for stack in profile.stacks:
        places = [(frame.place, frame.segment) for frame in stack.frames]
        innermost[places[-1]] += stack.samples
        for place in set(places):
            anywhere[place] += stack.samples
    return [
        {
            "function": place[0],
            "segment": place[1],
            "samples": innermost[place],
            "samples_in_calls": anywhere[place],
            "share": innermost[place] / max(profile.samples, 1),
        }
        for place in sorted(anywhere, key=lambda place: (-innermost[place], -anywhere[place], place))
    ]
