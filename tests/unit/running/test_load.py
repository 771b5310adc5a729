"""Arguments of `loadgo.run`, as frozen values or as plain keywords; errors name the arguments."""

import pickle
from pathlib import Path

import loadgo
import pytest
from loadgo.cli.output import with_option_names
from loadgo.errors import BadArgument, LoadgoError, Refused, naming
from support.small_machine import laid


def test_a_load_as_a_value_is_the_load_as_keywords(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    load = loadgo.Load(users=3, passes=2, think="exponential(2s)", seed=7)
    as_value = loadgo.run(script, on=str(machine), load=load, out=tmp_path / "value")
    as_keywords = loadgo.run(
        script, on=str(machine), users=3, passes=2, think="exponential(2s)", seed=7, out=tmp_path / "keywords"
    )
    assert loadgo.tables(as_value).interactions.equals(loadgo.tables(as_keywords).interactions)
    assert as_value.summary.everything == as_keywords.summary.everything


def test_a_keyword_wins_over_the_field_of_the_value(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    run = loadgo.run(script, on=str(machine), load=loadgo.Load(users=3, passes=2), users=2, out=tmp_path / "run")
    interactions = loadgo.tables(run).interactions
    assert sorted(interactions["user"].unique()) == [1, 2]
    assert interactions["pass"].max() == 2


def test_limits_are_written_as_the_option_has_them() -> None:
    assert str(loadgo.Limits(memory="256M", cpus=1.5, swap="zram:1G")) == "memory=256M,cpus=1.5,swap=zram:1G"
    assert str(loadgo.Limits()) == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"duration": "0s"}, "`duration`: 0s is no span"),
        ({"warm_up": "soon"}, "`warm_up`: "),
        ({"until": "enough"}, "`until`: "),
        ({"think": "often(2s)"}, "`think`: "),
        ({"typing": "fast"}, "`typing`: 'fast' is no typing rate"),
        ({"arrivals": "many"}, "`arrivals`: 'many' is no rate of arrivals"),
        ({"limit": "memory=much"}, "`limit`: "),
        ({"limit": "cpus=1", "limits": loadgo.Limits(cpus=1)}, "`limit` and `limits` mean the same"),
        ({"set": ["processors.speed=2"]}, "`set` changes a simulated machine: name one with `on`"),
        ({"login": " "}, "`login` is empty: leave it out, or write a command"),
        ({"login": 5}, "`login=5`: write it as a command, such as 'ssh host'"),
        ({"on": "multics-645", "login": "ssh host"}, "`login` is for this host: nobody logs in to a simulated machine"),
        ({"draws": 8}, "`draws` predicts with a simulated machine"),
        ({"users": 0}, "0 users are out of range"),
        ({"think": 5}, r"`think=5`: write it as a law, such as 'fixed\(5s\)'"),
        ({"users": "20"}, "`users='20'`: write it as a whole number"),
        ({"passes": 1.5}, "`passes=1.5`: write it as a whole number"),
        ({"seed": "one"}, "`seed='one'`: write it as a whole number"),
        ({"duration": ["1s"]}, "`duration=.*`: write it as seconds, or"),
        ({"until": 100}, "`until=100`: write it as a text, such as 'interactions=1e6'"),
        ({"limit": 1}, "`limit=1`: write it as a text"),
        (
            {"meters": True},
            "`meters=True`: write it as 'none', 'cheap', 'cheap,locks', 'cheap,profile', 'sampled' or 'exact'",
        ),
        ({"on": "multics-645", "meters": "cheap"}, "`meters=cheap` is for a host"),
        ({"on": "multics-645", "limit": "cpus=1"}, "`limit` is for a host: a machine has .* `set=memory.frames=512`"),
    ],
)
def test_an_error_names_the_argument_and_no_option(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(BadArgument, match=words) as caught:
        loadgo.run("light", **arguments)  # type: ignore[arg-type]
    assert "--" not in str(caught.value)
    assert isinstance(caught.value, LoadgoError)
    assert isinstance(caught.value, ValueError)


def test_one_condition_may_be_a_text(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    run = loadgo.run(script, on=str(machine), fail_if="p50 > 1h", set="processors.speed=2", out=tmp_path / "run")
    assert [finding.condition for finding in run.findings] == ["p50 > 1h"]


def test_a_command_that_nobody_typed_is_named_with_those_there_are(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    summary = loadgo.run(script, on=str(machine), out=tmp_path / "run").summary
    names = ", ".join(command.name for command in summary.commands)
    for family in (LoadgoError, KeyError):
        with pytest.raises(family, match=f"no interaction was with a command 'nope'; those with interactions: {names}"):
            summary.command("nope")


def test_a_value_that_cannot_be_set_is_an_argument_that_makes_no_sense() -> None:
    with pytest.raises(BadArgument, match=r"`set=processors.count=0`: `count` takes") as caught:
        loadgo.run("light", on="multics-645", set=["processors.count=0"])
    assert with_option_names(str(caught.value), caught.value.arguments).startswith(
        "--set processors.count=0: `count` takes"
    )


def test_an_unknown_keyword_is_refused_as_python_does() -> None:
    with pytest.raises(TypeError, match=r"run\(\) got an unexpected keyword argument 'user'"):
        loadgo.run("light", user=3)  # type: ignore[call-arg]


def test_the_command_line_has_options_in_place_of_arguments() -> None:
    text = "`duration`: none; or `max_users=9`, `output`, `think`"
    assert with_option_names(text, ("duration", "max_users", "output")) == "--for: none; or --max-users 9, -o, `think`"
    assert with_option_names(text, ()) == text


def test_an_error_keeps_its_arguments_between_processes() -> None:
    error = pickle.loads(pickle.dumps(Refused("`port=1`: taken").about("port")))
    assert (type(error), str(error), error.arguments) == (Refused, "`port=1`: taken", ("port",))


def test_names_are_put_before_the_text_once_for_each_level() -> None:
    with pytest.raises(BadArgument) as caught, naming("outer"):
        raise BadArgument("`inner` is wrong").about("inner")
    assert (str(caught.value), caught.value.arguments) == ("`outer`: `inner` is wrong", ("outer", "inner"))
