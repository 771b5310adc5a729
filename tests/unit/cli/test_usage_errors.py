"""Errors about values of options are in plain words."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from loadgo.cli.app import app
from support.outside import Bench
from typer.testing import CliRunner


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "light", "--users", "some"), "Invalid value for '--users': write a whole number, such as 20"),
        (("run", "light", "--usage-every", "0"), "it must be 1 or more"),
        (
            ("run", "light", "--meters", "some"),
            "'some' is not one of 'none', 'cheap', 'cheap,locks', 'cheap,profile', 'sampled', 'exact'",
        ),
        (("ready", "-n", "1.5", "--", "true"), "write a whole number, such as 20"),
        (("run", "light", "--out", ""), "Invalid value for '--out': it is empty: name a path"),
        (
            ("observe", "--from", "a", "b"),
            "extra argument(s) (b). Each value has an option of its own: --from A --from B",
        ),
        (("report", "-o="), "Invalid value for '-o': it is empty: name a path"),
        (("run", "light", "--on", "ctss", "--out", "\udcff"), "loadgo: --out is not UTF-8, but the records are: \\xff"),
        (
            ("capacity", "light", "--on", "ctss", "--target", "p90 < 2s", "--out", "\udcff"),
            "loadgo: --out is not UTF-8, but the records are: \\xff",
        ),
        (
            ("capacity", "light", "--target", "p90 < 2s", "--vary", "limit-each.cpus=1:2", "--longest", "9s"),
            "loadgo: --longest has no meaning with --vary: leave --longest out",
        ),
        (("sweep", "no-grid.toml", "--out", "\udcff"), "loadgo: --out is not UTF-8, but the records are: \\xff"),
        (("merge", "no-part", "--out", "\udcff"), "loadgo: --out is not UTF-8, but the records are: \\xff"),
        (("run", "light", "--on", "ctss", "--think", "\udcff"), "loadgo: --think: it is not UTF-8"),
        (("run", "light", "--on", "ctss", "--set", "speed=\udcff"), "loadgo: an argument is not UTF-8: speed=\\xff"),
        (("history", "p90("), "loadgo: FIGURE, column 5:"),
        (("run", "\udcff.toml"), "loadgo: the name of the script is not UTF-8, but the records are: \\xff.toml"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_in_plain_words(
    bench: Bench, arguments: tuple[str, ...], words: str
) -> None:
    completed = bench.typed(*arguments, status=2)
    shown = " ".join(completed.stderr.replace("│", " ").split())
    assert words in shown
    assert "Input should be" not in shown
    assert "Value error" not in shown
    assert "surrogates" not in shown


def test_help_shows_the_name_of_an_extra(bench: Bench) -> None:
    assert "loadgo[otel]" in bench.typed("meter", "--help").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "typical-users"], "did you mean typical-user?"),
        (["run", "nothing-like-it"], "Bundled are absentee"),
        (["run", "nowhere/script.toml"], "No such file"),
        (["run", "."], "is a folder"),
        (["run", "light", "--users", "0"], "1 to 1,000,000"),
        (["run", "light", "--users", "-3"], "1 to 1,000,000"),
        (["run", "light", "--users", "1000000000"], "1 to 1,000,000"),
        (["run", "light", "--users", "1e9"], "--users"),
        (["run", "light", "--passes", "0"], "at least 1"),
        (["run", "light", "--think", "unifrom(1s, 2s)"], "did you mean `uniform`?"),
        (["run", "light", "--typing", "fast"], "12 chars/s"),
        (["run", "light", "--for", "0s"], "more than 0"),
        (["run", "light", "--arrivals", "often"], "0.5/s"),
        (["run", "light", "--arrivals", "1/s"], "for how long"),
        (["run", "light", "--limit", "memory=lots"], "256M"),
        (["run", "light", "--fail-if", "p90(edit) > "], "--fail-if, column"),
        (["run", "light", "--fail-if", "p90(nobody) > 1s"], "nobody"),
        (["run", "light", "--tariff", "free"], "tariff"),
        (["run", "light", "--on", "ctsss"], "did you mean ctss?"),
        (["run", "light", "--unknown"], "--unknown"),
        (["run", "light", "--user", "20"], "No such option: --user (Possible options: --users)"),
        (["run"], "Missing argument 'SCRIPT'. A bundled script's name, or the path of one"),
        (["capacity", "light"], "Missing option '--target'. A condition that must hold: 'p90 < 2s'"),
        (["run", "mine.toml"], "mine.toml: No such file or directory; `loadgo scripts typical-user` prints one"),
        (["run", "light", "--on", "a.toml"], "a.toml: No such file or directory; `loadgo machines ctss` prints one"),
        (["history", "p90compile"], "did you mean p90(compile)?"),
        (["watch", "lastt"], "did you mean last?"),
        (["walk"], "walk"),
        (["report"], "there is no run"),
        (["report", "nowhere"], "there is no run"),
        (["report", "--format", "odt"], "odt"),
        (["query", "SELECT 1"], "there is no run"),
        (["query", "SELECT 1", "nowhere"], "nowhere"),
        (["query", "SELECT 1", "one", "--run", "other"], "name one run: one or --run other"),
    ],
)
def test_a_mistake_is_told_in_words_and_nothing_runs(
    arguments: Sequence[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOADGO_RUNS", raising=False)
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120"})
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert not list(tmp_path.iterdir())


def test_a_missing_script_is_told_with_the_nearest_beside_it(tmp_path: Path) -> None:
    (tmp_path / "day.toml").write_text("")
    result = CliRunner().invoke(app, ["run", str(tmp_path / "dya.toml")], env={"COLUMNS": "300"})
    assert result.exit_code == 2
    assert f"No such file or directory; did you mean {tmp_path / 'day.toml'}?" in result.stderr


def test_a_host_that_is_none_is_refused_before_anything_is_metered(bench: Bench) -> None:
    refused = bench.typed("meter", "--on", "login1", status=2).stderr
    assert "write ssh://login1 for the host login1" in refused
    assert "metering" not in refused


@pytest.mark.parametrize("command", [["record", "new.toml"], ["transfer", "--size", "1M"]])
def test_a_command_that_is_for_this_host_alone_says_how_it_is_run_on_another(command: list[str]) -> None:
    name, *others = command
    for words in (["--on", "ssh://far"], ["--on=ssh://far"]):
        result = CliRunner().invoke(app, [name, *words, *others])
        assert result.exit_code == 2
        assert f"ssh -t HOST loadgo {name} …" in " ".join(result.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--", "true"], "--on profiles another host as a whole"),
        (["--of", "last"], "leave --on out"),
        (["--hz", "10"], "leave --hz out"),
    ],
)
def test_what_the_profile_of_another_host_does_not_have_is_refused(words: list[str], reason: str) -> None:
    result = CliRunner().invoke(app, ["profile", "--on", "ssh://far", *words])
    assert result.exit_code == 2
    assert reason in " ".join(result.output.split())
