"""The words of an HTML page that have a meaning in the glossary: links to the page's own list of them, at its end.

A link shows its sentence on hover, and is reached by keyboard and by touch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from loadgo.documents.prose import with_whole_figures
from loadgo.notation.figures import plain
from loadgo.notation.heading_terms import HEADING_MEANINGS

_DOT = re.compile(r"(?<=[a-z_])\.(?=[a-z_])")
"""A dot within a name, such as `processors.speed`."""
_CONDITION = re.compile(r" [<>]=? (?=\d)")
"""The sign of a condition with its spaces, as in `p90 < 5s`."""
_JOINT = "\N{NO-BREAK SPACE}"


@dataclass
class ExplainedWords:
    """The words that a page has explained so far, each with its meaning."""

    meanings: dict[str, str] = field(default_factory=dict)

    def heading(self, text: str) -> Markup:
        """A column's heading. One with a meaning becomes a link to it. A setting's name may break after its dots."""
        if text in HEADING_MEANINGS:
            return self.word(text, HEADING_MEANINGS[text])
        return _breakable(text)

    def word(self, text: str, meaning: str) -> Markup:
        """A word of the page. With a meaning it becomes a link to it."""
        shown = _breakable(text)
        if not meaning or self.meanings.setdefault(text, meaning) != meaning:
            return shown
        return Markup('<a class="word" href="#{}" title="{}">{}</a>').format(self._id_of(meaning), meaning, shown)

    def listed(self) -> list[tuple[str, str, str]]:
        """The id, the words and the meaning of each entry, in the order of the alphabet. Words may share a meaning."""
        entries = [
            (self._id_of(meaning), ", ".join(map(plain, self._words_with(meaning))), meaning)
            for meaning in dict.fromkeys(self.meanings.values())
        ]
        return sorted(entries, key=lambda entry: entry[1].lower())

    def _words_with(self, meaning: str) -> list[str]:
        """The words with this meaning. Of `idle: throttled` and `throttled` only the longer one."""
        words = [text for text, other in self.meanings.items() if other == meaning]
        return [word for word in words if not any(other.endswith(f": {word}") for other in words)]

    def _id_of(self, meaning: str) -> str:
        return f"word-{list(dict.fromkeys(self.meanings.values())).index(meaning) + 1}"


def _breakable(text: str) -> Markup:
    """The text, escaped. A setting's name may break after its dots; a figure with its unit, or a condition, may not."""
    whole = _CONDITION.sub(lambda match: match[0].replace(" ", _JOINT), with_whole_figures(plain(text), _JOINT))
    return Markup(_DOT.sub(".<wbr>", escape(whole)))
