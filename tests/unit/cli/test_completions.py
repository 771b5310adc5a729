"""The words that a shell offers at the Tab key: asked of each shell that is here, by the lines that loadgo prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from loadgo.cli.app import app
from support.zsh_line import completed_by_zsh
from typer.testing import CliRunner

BASH = """
COMP_WORDS=("${{words[@]}}"); COMP_CWORD=$((${{#words[@]}} - 1))
{lines}
_loadgo_completion loadgo
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
MANY_WORDS = {
    ("ru",): {"run", "runs"},
    ("run", "--met"): {"--meters"},
    ("run", "edix"): set[str](),
    ("run", "edit"): {"editor"},
    ("run", "--on", "multics-64"): {"multics-645"},
    ("report", "--format", "s"): {"svg"},
    ("schema", "scr"): {"script", "scripts"},
    ("report", ""): {"last", "monday", "tuesday"},
}


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    """A folder with two runs in `runs/`."""
    for name in ("monday", "tuesday"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.toml").touch()
    return tmp_path


def printed_lines(shell: str) -> str:
    printed = CliRunner().invoke(app, ["completions", shell])
    assert printed.exit_code == 0, printed.stderr
    return printed.stdout


def ask(arguments: list[str], folder: Path) -> set[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "HOME": str(folder)}
    asked = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return set(asked.stdout.split())


@pytest.mark.parametrize("words", MANY_WORDS)
def test_bash_offers_commands_options_values_scripts_machines_and_runs(offered: Path, words: tuple[str, ...]) -> None:
    quoted = " ".join(f"'{word}'" for word in ("loadgo", *words))
    program = f"words=({quoted})" + BASH.format(lines=printed_lines("bash"))
    assert ask(["bash", "--norc", "-c", program], offered) == MANY_WORDS[words]


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish on this host")
def test_fish_offers_commands(offered: Path) -> None:
    (offered / "loadgo.fish").write_text(printed_lines("fish"))
    words = ask(["fish", "--no-config", "-c", "source loadgo.fish; complete -C 'loadgo ru' | cut -f 1"], offered)
    assert words == {"run", "runs"}


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh on this host")
def test_zsh_can_read_its_lines(offered: Path) -> None:
    (offered / "_loadgo").write_text(printed_lines("zsh"))
    program = "autoload -Uz compinit; compinit -u -d dump; . ./_loadgo; print $_comps[loadgo]"
    assert ask(["zsh", "-f", "-c", program], offered) == {"_loadgo_completion"}


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh on this host")
def test_zsh_offers_commands_at_the_first_tab_when_a_package_has_its_lines(offered: Path) -> None:
    """The file lies in a folder of functions, and zsh reads it when the Tab key is pressed first."""
    (offered / "_loadgo").write_text(printed_lines("zsh"))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    assert "loadgo capacity" in completed_by_zsh("loadgo capac", "capacity", offered, path)


def test_another_shell_is_refused_with_the_three() -> None:
    typed = CliRunner().invoke(app, ["completions", "tcsh"])
    assert typed.exit_code == 2
    for shell in ("bash", "zsh", "fish"):
        assert shell in typed.stderr
