"""Plain words as a test: names and docstrings keep the rules of `support/plain_words.py`."""

from collections import Counter
from pathlib import Path

from support.plain_words import RULES, findings, python_findings, repeated_types, rust_findings


def test_each_rule_finds_its_defect() -> None:
    path = Path("python/loadgo/running/sample.py")
    body = "\n".join(["    print(told)"] * 11)
    docstring = f'    """What {"is " * 30}said."""'
    python = f'"""A file."""\n\nFEWEST = 3\nMOST_LONG = 4\nCYCLES_S = 5.0\n\n\ndef f(told):\n{docstring}\n{body}\n'
    assert Counter(finding.rule for finding in python_findings(path, python)) == Counter(list(RULES)[:5])
    source = Path("crates/core/src/sample.rs")
    uses = "\n".join(["    use_of(&found);"] * 11)
    constants = "pub const APART: u32 = 3;\npub const TOO_MUCH: u32 = 4;\npub const NO_JOB: u32 = u32::MAX;"
    rust = f"/// It {'is ' * 30}so.\n{constants}\nfn f() {{\n    let found = 1;\n{uses}\n}}\n"
    assert Counter(finding.rule for finding in rust_findings(source, rust)) == Counter(list(RULES)[:5])
    twice = {"Place": [("crates/core", source, 1), ("crates/core", source, 9)], "Part": [("crates/core", source, 3)]}
    assert [finding.line for finding in repeated_types(twice)] == [1, 9]


def test_words_are_plain() -> None:
    broken = [f"{finding.path}:{finding.line}: {finding.text} ({RULES[finding.rule]})" for finding in findings()]
    assert not broken, "\n".join(broken)
