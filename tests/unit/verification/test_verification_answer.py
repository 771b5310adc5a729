"""The answer of a verification: what holds, and what of a run is not proven."""

from pathlib import Path

import loadgo
from support.places import TESTS

RUNS = TESTS / "runs"


def test_the_answer_says_what_of_an_unsigned_run_is_not_proven(tmp_path: Path) -> None:
    loadgo.run("typical-user", on="multics-6180", users=5, passes=1, seed=3, out=tmp_path / "run")
    moved = (tmp_path / "run").rename(tmp_path / "received")
    verification = loadgo.verify(moved)
    holds = len(verification.of("holds"))
    words = " ".join(str(verification.report("text", width=100)).split())
    assert words.startswith(
        f'Run "received" (recorded as "run") holds as far as can be checked: nothing is wrong in {holds} checks. '
        "Nobody signed it, so a change made on purpose could not be seen."
    )
    assert "Trust: moderate: a change made on purpose could not be detected." in words


def test_a_run_of_an_earlier_version_is_not_checkable_and_says_so() -> None:
    verification = loadgo.verify(RUNS / "reported" / "live-exact")
    assert verification.holds
    (tables,) = [check for check in verification.checks if check.name == "the tables"]
    assert tables.verdict == "not checkable"
    assert "an earlier loadgo recorded the run" in tables.text
    words = " ".join(str(verification.report("text", width=120)).split())
    assert "Trust: moderate: a later change of the tables and script.toml could not be detected." in words
    assert "files are as they were recorded" not in words
    assert words.startswith(
        'Run "live-exact" holds as far as can be checked: nothing is wrong in 10 checks. The tables and script.toml '
        "have no checksums, and nobody signed it, so a change could not be seen."
    )
