"""SECURITY.md names a test for each claim: each of these tests exists."""

import re

from support.places import PROJECT

CLAIM = re.compile(r"`((?:test_)?[a-z0-9]+(?:_[a-z0-9]+){3,})`")
"""The name of a test: at least four words, joined."""


def test_each_test_that_proves_a_claim_exists() -> None:
    claims = set(CLAIM.findall((PROJECT / "SECURITY.md").read_text(encoding="utf-8")))
    assert len(claims) > 25
    files = [*(PROJECT / "tests").rglob("*.py"), *(PROJECT / "crates").rglob("*.rs")]
    defined = {name for file in files for name in re.findall(r"(?:def|fn) (\w+)\(", file.read_text(encoding="utf-8"))}
    assert claims <= defined, claims - defined
