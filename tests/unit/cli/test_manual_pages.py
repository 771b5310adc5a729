"""The manual pages: every command and option stands in them, and the formatter of man(1) has nothing to warn of."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from loadgo.cli.app import app
from loadgo.cli.command_group import built_command
from loadgo.cli.command_list import LISTED_COMMANDS
from loadgo.cli.manual_pages import _roff, manual_pages
from rich.text import Text
from typer.core import TyperArgument
from typer.testing import CliRunner


def shown(page: Path) -> tuple[str, str]:
    """The page as man(1) shows it, and the formatter's warnings."""
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff, which formats manual pages, is not here: apt-get install groff")
    command = [groff, "-man", "-Kutf8", "-Tutf8", "-P-cbou", "-ww", "-rLL=200n", str(page)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


def shown_text(content: str, folder: Path) -> str:
    """The text of a page with this content."""
    page = folder / "page.1"
    page.write_text(content, encoding="utf-8")
    return shown(page)[0]


def names_of(parameter: Any) -> str:
    """The names of an option or argument, as they stand at the head of its paragraph."""
    if isinstance(parameter, TyperArgument):
        return str(parameter.display_name_raw)
    return ", ".join([*parameter.opts, *parameter.secondary_opts])


def missing(command: str, text: str) -> list[str]:
    """The parameters of a command that have no paragraph of their own in the page: the names, then the whole help."""
    found = []
    for parameter in built_command(command).params:
        words = Text.from_markup(parameter.help or "").plain.split()
        help_pattern = "".join(rf"\s+{re.escape(word)}" for word in words)
        head = re.escape(names_of(parameter))
        if not re.search(rf"^ {{7}}{head}(?: [^\n]*)?{help_pattern}(?:\s|$)", text, re.MULTILINE):
            found.append(names_of(parameter))
    return found


def test_the_pages_are_written_and_formatted_without_a_warning(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["man", str(tmp_path / "man1")])
    assert result.exit_code == 0, result.output
    pages = sorted((tmp_path / "man1").iterdir())
    assert [page.name for page in pages] == sorted(manual_pages())
    for page in pages:
        text, warnings = shown(page)
        assert not warnings, f"{page.name}: {warnings}"
        assert text.startswith(page.name.removesuffix(".1").upper())


@pytest.mark.parametrize("name", LISTED_COMMANDS)
def test_every_option_of_a_command_has_a_paragraph_in_its_page_and_there_is_no_other(name: str, tmp_path: Path) -> None:
    text = shown_text(manual_pages()[f"loadgo-{name}.1"], tmp_path)
    assert missing(name, text) == []
    options = [one for one in built_command(name).params if not isinstance(one, TyperArgument)]
    assert len(re.findall(r"^ {7}-", text, re.MULTILINE)) == len(options)


def test_a_paragraph_that_is_gone_or_without_its_help_is_seen(tmp_path: Path) -> None:
    content = manual_pages()["loadgo-run.1"]
    paragraph = re.search(r"^\.TP\n\\fB\\-\\-users .*\n(.*\n)", content, re.MULTILINE)
    assert paragraph
    for gone in (paragraph[0], paragraph[1]):
        assert missing("run", shown_text(content.replace(gone, ""), tmp_path)) == ["--users"]


def test_the_first_page_names_every_command_in_order_and_no_other() -> None:
    first = manual_pages()["loadgo.1"].replace(r"\-", "-")
    assert re.findall(r"^\\fBloadgo-(\S+)\(1\)\\fR$", first, re.MULTILINE) == list(LISTED_COMMANDS)


def test_a_warning_of_the_formatter_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "bad.1"
    page.write_text(".TH BAD 1\n.SH NAME\nbad \\- \\fQ bad\n.xyz\n", encoding="utf-8")
    assert shown(page)[1]


def test_signs_of_a_shell_stand_in_a_page_as_they_are_typed(tmp_path: Path) -> None:
    """Without an escape, the formatter shows a tilde and a circumflex as accents, which no shell understands."""
    content = manual_pages()["loadgo-man.1"]
    assert r"\(ti/.local/share/man/man1" in content
    assert "~" not in "".join(manual_pages().values())
    (page := tmp_path / "loadgo-man.1").write_text(content, encoding="utf-8")
    assert "~/.local/share/man/man1" in shown(page)[0]
    page.write_text(content.replace(r"\(ti/.local", f"{_roff('^~')}/.local"), encoding="utf-8")
    assert "^~/.local" in shown(page)[0]


def test_a_page_that_cannot_be_written_is_named_with_the_remedy(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # as on a disk with no more room
    try:
        result = CliRunner().invoke(app, ["man", str(tmp_path / "man1")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert f"{tmp_path / 'man1' / 'loadgo.1'}: File too large: make room there, or name another folder" in told
    assert list((tmp_path / "man1").iterdir()) == []


def test_an_empty_name_is_refused_and_fills_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["man", ""])
    assert result.exit_code == 2
    assert "it is empty: name a folder" in " ".join(result.stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_the_hint_is_a_path_that_man_does_not_search_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, hint in ((".", "man ./loadgo.1"), ("pages", "man pages/loadgo.1")):
        result = CliRunner().invoke(app, ["man", folder])
        assert result.exit_code == 0, result.output
        assert result.stderr.split(": ")[-1].strip() == hint


def test_a_file_or_a_device_in_place_of_the_folder_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("kept")
    for name in (str(file), "/dev/null", str(file / "below")):
        result = CliRunner().invoke(app, ["man", name])
        assert result.exit_code == 2
        assert "name a new or empty folder" in " ".join(result.stderr.split())
    assert file.read_text() == "kept"
