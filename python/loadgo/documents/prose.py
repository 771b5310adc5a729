"""Sentences of an HTML page: text in backticks is code; an option, a date, or a figure with its unit, is not broken."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from loadgo.notation.figures import plain

_MOST_WHOLE_CHARS = 32
"""Most characters that are kept on one line. A longer word must break, since the page of a telephone has 40."""

CODE_PATTERN = r"(?<![\w`])`(?P<code>[^`\s](?:[^`\n]*[^`\s])?)`(?![\w`])"
"""The pattern of code in a sentence. A backtick within a word is a sign like any other."""
_NUMBER = r"(?:±[ ]?)?[−+-]?\d[\d,.]*"
_UNIT = r"(?:%|[pnµm]?s|min|h|[kMGT]?B)"
_WHOLE = re.compile(
    rf"""
    {CODE_PATTERN}
    | (?<![\w-]) \d{{4}}-\d\d-\d\d (?![\w-])
    | (?<![\w-]) --?[a-z][a-z-]*[a-z]
    | (?<![\w.,]) {_NUMBER} (?:–{_NUMBER})? \ {_UNIT} (?!\w)
    """,
    re.VERBOSE,
)

_OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*[a-z])")


def prose(text: str) -> Markup:
    """The text, escaped, with `code` for what stands in backticks, and with options and figures that do not break.

    A backtick within a word, as in the function `` libc.so`0x1234 ``, is a sign like any other.
    """
    text = plain(text)
    parts, end = [], 0
    for match in _WHOLE.finditer(text):
        parts += [escape(text[end : match.start()]), _marked_up(match)]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def verbatim(text: str) -> Markup:
    """The text, escaped, in which no option is broken."""
    parts = _OPTION.split(plain(text))
    return Markup("").join(_whole(part) if at % 2 else escape(part) for at, part in enumerate(parts))


def with_whole_figures(text: str, joint: str) -> str:
    """The text with `joint` in place of the space between a figure and its unit, where no line may be broken."""
    return _WHOLE.sub(lambda match: match[0] if match["code"] else match[0].replace(" ", joint), text)


def _marked_up(match: re.Match[str]) -> Markup:
    if match["code"] is None:
        return _whole(match[0])
    words = (_whole(word) if "-" in word else escape(word) for word in match["code"].split(" "))
    return Markup("<code>{}</code>").format(Markup(" ").join(words))


def _whole(word: str) -> Markup:
    """The word on one line, by an attribute, since a notebook has no style sheet of ours."""
    if len(word) > _MOST_WHOLE_CHARS:
        return escape(word)
    return Markup('<span style="white-space: nowrap">{}</span>').format(word)
