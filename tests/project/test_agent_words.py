"""The agent names the categories of processors' time as `loadgo meter` does: its own list has today's terms."""

from __future__ import annotations

import re

from loadgo.notation.terms import CATEGORY_TERMS
from support.places import PROJECT

SOURCE = PROJECT / "crates/agent/src/alone/meter.rs"
OF_MACHINES = "on a simulated machine."
"""The end of the meaning of a category that no host has."""


def test_each_category_of_a_host_has_the_same_name_in_the_agent() -> None:
    body = SOURCE.read_text(encoding="utf-8").partition("fn in_words(")[2].partition("\n}\n")[0]
    named = dict(re.findall(r'^ +"(.+)" => "(.+)",$', body, re.MULTILINE))
    assert named.keys() <= CATEGORY_TERMS.keys()
    terms = {stored: term for stored, term in CATEGORY_TERMS.items() if not term.meaning.endswith(OF_MACHINES)}
    shown = {stored: named.get(stored, stored) for stored in terms}
    assert shown == {stored: term.name for stored, term in terms.items()}
