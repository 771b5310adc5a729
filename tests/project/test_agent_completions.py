"""The words that each shell offers for loadgo-agent at the Tab key, by the files that are in the packages."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from loadgo.hosts.delivery import find_agent_program
from support.places import PROJECT
from support.zsh_line import completed_by_zsh

AGENT = PROJECT / "packaging/agent"
COMMANDS = {"ready", "meter", "doctor", "version", "clear", "help"}
OFFERED = {
    ("",): COMMANDS,
    ("me",): {"meter"},
    ("ready", "-"): {"-n", "--quiet-output"},
    ("meter", "--"): {"--for", "--meters"},
    ("meter", "--meters", ""): {"none", "cheap", "cheap,locks", "cheap,profile", "sampled", "exact"},
    ("meter", "--meters", "e"): {"exact"},
    ("doctor", "--f"): {"--full"},
    ("ready", "--", "loadgo-age"): {"loadgo-agent"},
}
"""The words that are offered for the last of these. bash also offers the `--` that ends the options."""

BASH = """
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
. {file}
_loadgo_agent loadgo-agent
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def asked(*words: str) -> set[str]:
    """The words that a shell prints. The program is on its PATH."""
    path = f"{find_agent_program().path.parent}:/usr/bin:/bin"
    with TemporaryDirectory() as home:  # fish makes folders in it
        done = subprocess.run(words, capture_output=True, text=True, check=True, env={"PATH": path, "HOME": home})
    return set(done.stdout.split())


def test_the_offered_commands_are_those_of_the_usage() -> None:
    usage = subprocess.run([find_agent_program().path, "help"], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"loadgo-agent ([a-z]+)(?: |$)", usage, re.MULTILINE)) - {"serve"} == COMMANDS - {"help"}


@pytest.mark.parametrize("words", OFFERED)
def test_bash_offers_commands_options_values_and_programs(words: tuple[str, ...]) -> None:
    program = BASH.format(file=AGENT / "loadgo-agent.bash")
    assert asked("bash", "--norc", "-c", program, "bash", "loadgo-agent", *words) - {"--"} == OFFERED[words]


@pytest.mark.skipif(not shutil.which("fish"), reason="there is no fish on this host")
@pytest.mark.parametrize("words", OFFERED)
def test_fish_offers_commands_options_values_and_programs(words: tuple[str, ...]) -> None:
    line = " ".join(("loadgo-agent", *words))
    program = f"source {AGENT / 'loadgo-agent.fish'}; complete -C '{line}' | cut -f 1"
    assert asked("fish", "--no-config", "-c", program) == OFFERED[words]


@pytest.mark.skipif(not shutil.which("zsh"), reason="there is no zsh on this host")
@pytest.mark.parametrize(("typed", "shown"), [("me", "meter"), ("meter --me", "--meters"), ("doctor --", "--full")])
def test_zsh_completes_at_the_first_tab(typed: str, shown: str, tmp_path: Path) -> None:
    shutil.copy(AGENT / "loadgo-agent.zsh", tmp_path / "_loadgo-agent")
    assert shown in completed_by_zsh(f"loadgo-agent {typed}", shown, tmp_path)
