"""A profile in every format: document, page with a flame graph, JSON, and functions, segments and stacks as frames."""

from __future__ import annotations

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.profiling.document import DEFAULT_SHOWN_FUNCTIONS, profile_document, profile_json
from loadgo.profiling.profile import Profile
from loadgo.profiling.summary import function_samples

_FUNCTION_COLUMNS = (
    "function=function.function segment=function.segment samples=function.samples "
    "samples_in_calls=function.samples_in_calls share"
)


def presentation(profile: Profile, *, top: int = DEFAULT_SHOWN_FUNCTIONS) -> Presentation:
    """The parts of a profile. The document shows at most `top` functions; frames and JSON have all."""
    return Presentation(
        lambda: profile_document(profile, top=top),
        lambda: profile_json(profile),
        {
            "functions": lambda: frame_of(_functions(profile), _FUNCTION_COLUMNS),
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
    """All functions with their shares of the samples, the most frequent first."""
    return [
        {"function": function, "share": function.samples / max(profile.samples, 1)}
        for function in function_samples(profile)
    ]
