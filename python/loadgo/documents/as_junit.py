"""Checks as JUnit's XML, which continuous integration reads, and as a short summary in GitHub's Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from loadgo.documents.as_markdown import escaped, sentence
from loadgo.notation.figures import plain

CheckVerdict = Literal["passed", "failed", "cannot tell"]
_NO_XML = re.compile("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold, not even as a reference."""
_SIGNS: dict[CheckVerdict, str] = {"passed": "✅", "failed": "❌", "cannot tell": "❓"}
_WORDS: dict[CheckVerdict, str] = {"passed": "PASS", "failed": "FAIL", "cannot tell": "CANNOT TELL"}
"""The words beside the signs, which not every font has."""


@dataclass(frozen=True)
class Check:
    """A check of a run or a comparison, and its result."""

    name: str
    """The condition, or what was checked."""
    verdict: CheckVerdict
    """`cannot tell` fails too: a check that was impossible must not look like one that passed."""
    text: str
    """The result in words, with its figures."""
    is_open: bool = False
    """Whether chance may have decided, so that a check that passed might have failed."""

    @property
    def sign(self) -> str:
        """The sign of the result. A check that passed by chance alone, perhaps, has that of one that cannot be told."""
        return _SIGNS["cannot tell" if self.verdict == "passed" and self.is_open else self.verdict]

    @property
    def word(self) -> str:
        """The result in a word, for those who do not see the sign."""
        return "PASS, perhaps by chance" if self.verdict == "passed" and self.is_open else _WORDS[self.verdict]


def junit_xml(suite: str, checks: Sequence[Check], seconds: float = 0.0) -> str:
    """The checks as a test suite: `failed` is a failure, and `cannot tell` is an error, each with its reason.

    `seconds` is the length of what was judged. Each check is about all of it, so each has that time, as the suite has.
    """
    time = f"{seconds:.3f}"
    counts = {verdict: str(sum(check.verdict == verdict for check in checks)) for verdict in _SIGNS}
    totals = {"tests": str(len(checks)), "failures": counts["failed"], "errors": counts["cannot tell"]}
    root = ElementTree.Element("testsuites", {"name": "loadgo", **totals, "time": time})
    element = ElementTree.SubElement(
        root, "testsuite", {"name": _xml_text(suite), **totals, "skipped": "0", "time": time}
    )
    for check in checks:
        case = ElementTree.SubElement(
            element, "testcase", {"name": _xml_text(check.name), "classname": _xml_text(suite), "time": time}
        )
        text = _xml_text(check.text)
        if check.verdict == "passed":
            ElementTree.SubElement(case, "system-out").text = text
        else:
            kind = "failure" if check.verdict == "failed" else "error"
            ElementTree.SubElement(case, kind, {"message": text, "type": check.verdict}).text = text
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _xml_text(text: str) -> str:
    return _NO_XML.sub("\ufffd", "\n".join(plain(line) for line in text.split("\n")))


def checks_summary(title: str, answer: str, warnings: Sequence[str], checks: Sequence[Check]) -> str:
    """A few lines of Markdown: the answer under the title, warnings, and a row for each check."""
    lines = [f"### {_one_line(title)}{f': {_verdict(checks)}' if checks else ''}", ""]
    for warning in warnings:
        lines += [f"> **{sentence(' '.join(warning.split()))}**", ""]
    lines += [_one_line(answer), ""]
    if checks:
        lines += ["| | check | result |", "|---|---|---|"]
        lines += [f"| {one.sign} {one.word} | {_one_line(one.name)} | {_one_line(one.text)} |" for one in checks]
        lines.append("")
    return "\n".join(lines) + "\n"


def _verdict(checks: Sequence[Check]) -> str:
    """The heading's verdict on all checks: how many failed or, if none did, how many passed perhaps by chance."""
    count, bad = len(checks), sum(check.verdict != "passed" for check in checks)
    if bad:
        return f"{_SIGNS['failed']} {bad} of {count} checks failed"
    if perhaps := sum(check.is_open for check in checks):
        return f"{_SIGNS['cannot tell']} none failed, but of {perhaps} of {count} checks the intervals cannot tell"
    return f"{_SIGNS['passed']} all passed"


def _one_line(text: str) -> str:
    return escaped(" ".join(text.split()))
