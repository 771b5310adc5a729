"""The help of each command: examples that work, groups of options, and no line that a terminal of 80 columns cuts."""

from __future__ import annotations

import inspect
import shlex
import shutil
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from loadgo.cli.app import app
from loadgo.cli.command_group import built_command
from loadgo.cli.command_list import LISTED_COMMANDS
from loadgo.cli.examples import COMMAND_EXAMPLES
from loadgo.cli.usage_errors import group_of
from loadgo.running.bundled import find_script
from loadgo.running.machines import machine_text
from support.places import TESTS
from typer.testing import CliRunner

COMMANDS: dict[str, Any] = {name: built_command(name) for name in LISTED_COMMANDS}
EXAMPLE_LINES = [(name, example) for name, examples in COMMAND_EXAMPLES.items() for _, example in examples]
RUN_HERE = ("machines", "runs", "doctor", "query", "cost", "report")
"""Commands whose first example takes seconds at most, and no load on this host."""
MOST_UNGROUPED = 6
"""A command with more options than these shows them in groups."""


def words_of(example: str) -> list[str]:
    """The arguments of an example. What a shell would do with the output is left out."""
    program, _, *arguments = shlex.split(example)
    assert program == "loadgo"
    return arguments[: arguments.index(">")] if ">" in arguments else arguments


def help_of(*command: str) -> str:
    result = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_function_says(name: str) -> None:
    docstring = inspect.cleandoc(COMMANDS[name].callback.__doc__)
    assert LISTED_COMMANDS[name].about == " ".join(docstring.partition("\n\n")[0].split())


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_two_examples_at_the_head_of_its_help(name: str) -> None:
    examples = [example for _, example in COMMAND_EXAMPLES[name]]
    assert len(examples) == 2
    text = help_of(name)
    head = text.partition("╭")[0]
    assert all(f" {example}" in head for example in examples)


@pytest.mark.parametrize(("name", "example"), EXAMPLE_LINES)
def test_each_example_is_read_by_its_command(name: str, example: str) -> None:
    assert shlex.split(example)[1] == name
    context = COMMANDS[name].make_context(name, words_of(example))
    given = context.params
    if given.get("on", "here") != "here":
        assert machine_text(given["on"], ())
    for script in (given.get("script"), given.get("a") if name == "ab" else None):
        assert script is None or find_script(script)


@pytest.mark.parametrize("name", RUN_HERE)
def test_examples_that_need_no_load_work(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TESTS / "runs" / "format-1", tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOADGO_RUNS", raising=False)
    (_, example), _ = COMMAND_EXAMPLES[name]
    result = CliRunner().invoke(app, [name, *words_of(example)])
    assert result.exit_code == 0, result.output
    assert result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_many_options_stand_in_groups(name: str) -> None:
    options = [param for param in COMMANDS[name].params if param.param_type_name == "option"]
    ungrouped = [param.name for param in options if group_of(name, param.name) is None]
    assert len(options) <= MOST_UNGROUPED or not ungrouped, ungrouped


@pytest.mark.parametrize("name", [*COMMANDS, ""])
def test_help_fits_80_columns_and_cuts_nothing(name: str) -> None:
    text = help_of(*([name] if name else []))
    assert max(map(len, text.splitlines())) <= 80
    words = {param.opts[0] for param in (COMMANDS[name].params if name else []) if param.param_type_name == "option"}
    assert all(f" {word} " in text for word in words)
    written = "".join(f"{param.help}{param.metavar}" for param in (COMMANDS[name].params if name else []))
    assert text.partition("╭")[2].count("…") == written.count("…")
    for param in COMMANDS[name].params if name else []:
        kind = param.type_descriptor.annotation
        choices = get_args(kind) if get_origin(kind) is Literal else ()
        if param.param_type_name == "option":
            assert [part for part in choices if f"{part}|" not in text and f"{part}>" not in text] == []
        else:
            assert [part for part in choices if part not in param.help] == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_has_no_words_of_pythons_types(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "120"}).stdout
    assert "Usage:" in shown
    for word in ("<str>", "<int", "<bool>", "<path>", "<float", "list[", "[["):
        assert word not in shown
