"""Errors about values of options are in plain words."""

from pathlib import Path

import pytest
from support.outside import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place to run in."""
    (tmp_path / "homes").mkdir()
    return Bench(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "light", "--users", "some"), "Invalid value for '--users': write a whole number, such as 20"),
        (("run", "light", "--usage-every", "0"), "it must be 1 or more"),
        (("run", "light", "--meters", "some"), "'some' is not one of 'none', 'cheap', 'exact'"),
        (("ready", "-n", "1.5", "--", "true"), "write a whole number, such as 20"),
        (("run", "light", "--out", ""), "Invalid value for '--out': it is empty: name a path"),
        (("report", "-o="), "Invalid value for '-o': it is empty: name a path"),
        (("run", "light", "--on", "ctss", "--out", "\udcff"), "loadgo: --out is not UTF-8, but the records are: \\xff"),
        (("run", "light", "--on", "ctss", "--think", "\udcff"), "loadgo: --think: it is not UTF-8"),
        (("run", "light", "--on", "ctss", "--set", "speed=\udcff"), "loadgo: an argument is not UTF-8: speed=\\xff"),
        (("history", "p90("), "loadgo: FIGURE, column 5:"),
        (("run", "\udcff.toml"), "loadgo: the name of the script is not UTF-8, but the records are: \\xff.toml"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_in_plain_words(
    bench: Bench, arguments: tuple[str, ...], words: str
) -> None:
    completed = bench.loadgo(*arguments, status=2)
    shown = " ".join(completed.stderr.replace("│", " ").split())
    assert words in shown
    assert "Input should be" not in shown
    assert "Value error" not in shown
    assert "surrogates" not in shown


def test_help_shows_the_name_of_an_extra(bench: Bench) -> None:
    assert "loadgo[otel]" in bench.loadgo("meter", "--help").stdout
