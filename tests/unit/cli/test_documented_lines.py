"""Each command line in the README and in `docs/` is read by its command's parser: none has an option that is gone."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest
from loadgo.cli.command_group import built_command
from loadgo.cli.command_list import LISTED_COMMANDS
from loadgo.running.bundled import script_names
from loadgo.schemas.formats import JSON_FORMATS
from support.places import PROJECT

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
LINE = re.compile(r"^ *(?:\$ |run: )?(?:for .*; do )?(loadgo (?!=).+)$", re.MULTILINE)
"""A command in a block, or in a loop of the shell."""
VARIABLE = re.compile(r"\$\{\w+[^}]*\}|\$\w+|\$\([^)]*\)")
SYNTAX = re.compile(r"[…\[\]]|[a-z]\|[a-z]")
"""Signs in the lines that show all forms of a command at once."""


def blocks(page: Path) -> str:
    """The indented and the fenced lines of a page. A line that ends in a backslash goes on in the next."""
    text = page.read_text().replace("\\\n", " ")
    fenced = "".join(re.findall(r"^```(?:console|sh)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    return fenced + "\n".join(line for line in text.splitlines() if line.startswith("    "))


def words_of(line: str) -> list[str]:
    """The words of a command line until a redirection or its end, with 1 for a variable of the shell."""
    tokens = shlex.shlex(VARIABLE.sub("1", line), posix=True, punctuation_chars=";<>|&")
    tokens.whitespace_split = True
    return list(takewhile(lambda word: word[0] not in ";<>|&" if word else True, tokens))


def lines_of(page: Path) -> list[str]:
    return [line for line in LINE.findall(blocks(page)) if not SYNTAX.search(line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_line_of_a_page_is_read_by_its_command(page: Path) -> None:
    for line in lines_of(page):
        _, name, *arguments = words_of(line)
        if name == "--version" or name == "--help":
            continue
        assert name in LISTED_COMMANDS, line
        try:
            built_command(name).make_context(name, arguments)
        except Exception as mistake:
            pytest.fail(f"{line}\n{getattr(mistake, 'message', mistake)}")


def test_the_pages_have_many_lines() -> None:
    assert sum(len(lines_of(page)) for page in PAGES) > 120


@pytest.mark.parametrize("wrong", ["loadgo run light --user 3", "loadgo rum light", "loadgo compare a"])
def test_a_line_that_is_not_so_fails(tmp_path: Path, wrong: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"Text\n\n    {wrong}\n")
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        test_each_line_of_a_page_is_read_by_its_command(page)


@pytest.mark.parametrize("page", ["README.md", "docs/run.md"])
def test_a_page_that_lists_the_bundled_scripts_has_each_of_them(page: str) -> None:
    text = (PROJECT / page).read_text()
    assert [name for name in script_names() if f"`{name}`" not in text] == []


def test_the_table_of_json_formats_has_each_format_and_no_other() -> None:
    text = (PROJECT / "docs/json.md").read_text()
    table = text.partition("| format | printed by |\n|---|---|\n")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    assert sorted(named) == sorted(known.name for known in JSON_FORMATS)
