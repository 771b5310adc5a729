"""The manual pages: every command and option stands in them, and the formatter of man(1) has nothing to warn of."""

from __future__ import annotations

import resource
import shutil
import subprocess
from pathlib import Path

import pytest
from loadgo.cli.app import app
from loadgo.cli.command_group import built_command
from loadgo.cli.command_list import LISTED_COMMANDS
from loadgo.cli.manual_pages import _roff, manual_pages
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
def test_every_option_of_a_command_stands_in_its_page_with_its_help(name: str, tmp_path: Path) -> None:
    page = tmp_path / f"loadgo-{name}.1"
    page.write_text(manual_pages()[page.name], encoding="utf-8")
    text = " ".join(shown(page)[0].split())
    for parameter in built_command(name).params:
        names = [parameter.display_name_raw] if isinstance(parameter, TyperArgument) else parameter.opts
        assert all(option in text for option in names), parameter
        assert not parameter.help or " ".join(parameter.help.split())[:40].rstrip("`' ") in text, parameter.help


def test_the_first_page_names_every_command_and_a_wrong_option_would_be_missed() -> None:
    first = manual_pages()["loadgo.1"]
    assert all(rf"loadgo\-{name}(1)" in first for name in LISTED_COMMANDS)
    assert "--unheard-of" not in "".join(manual_pages().values())


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
