"""The packages of the agent: built from its program, the same bytes twice, installed and removed in an empty root."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest
from loadgo.hosts.delivery import find_agent_program
from support.places import PROJECT

FILES = [
    "usr/bin/loadgo-agent",
    "usr/share/doc/loadgo-agent/LICENSE-APACHE",
    "usr/share/doc/loadgo-agent/LICENSE-MIT",
    "usr/share/man/man1/loadgo-agent.1.gz",
]
MANUAL = PROJECT / "packaging/agent/loadgo-agent.1"


def output(*words: str | Path) -> str:
    """The output of a command that succeeds."""
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True).stdout


def packages(folder: Path) -> dict[str, Path]:
    """The packages, made in a folder, by the ending of their names."""
    output(PROJECT / "scripts/packages", find_agent_program().path, folder)
    return {path.suffix: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The packages."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("dpkg-deb, which makes a .deb, is not here")
    return packages(tmp_path_factory.mktemp("packages"))


def installed(root: Path) -> list[str]:
    """The files of a root without those of the package managers."""
    paths = (path.relative_to(root) for path in (root / "usr").rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if path.parts[:3] != ("usr", "lib", "sysimage"))


def works(root: Path) -> bool:
    """Whether the program of a root runs there, without anything else."""
    (root / "proc").mkdir(exist_ok=True)
    return output("chroot", root, "/usr/bin/loadgo-agent", "version").startswith("loadgo-agent ")


def test_the_deb_is_installed_in_an_empty_root_runs_there_and_leaves_nothing(
    made: dict[str, Path], tmp_path: Path
) -> None:
    for folder in ("info", "updates"):
        (tmp_path / "var/lib/dpkg" / folder).mkdir(parents=True)
    for name in ("status", "available"):
        (tmp_path / "var/lib/dpkg" / name).touch()
    output("dpkg", f"--root={tmp_path}", "--log=/dev/null", "--install", made[".deb"])
    assert installed(tmp_path) == FILES
    assert works(tmp_path)
    output("dpkg", f"--root={tmp_path}", "--log=/dev/null", "--purge", "loadgo-agent")
    assert not installed(tmp_path)


def test_the_rpm_is_installed_in_an_empty_root_runs_there_and_leaves_nothing(
    made: dict[str, Path], tmp_path: Path
) -> None:
    if ".rpm" not in made:
        pytest.skip("rpmbuild, which makes an .rpm, is not here: apt-get install rpm")
    output("rpm", f"--root={tmp_path}", "--install", made[".rpm"])
    assert installed(tmp_path) == FILES
    assert works(tmp_path)
    output("rpm", f"--root={tmp_path}", "--erase", "loadgo-agent")
    assert not installed(tmp_path)


def test_the_same_program_gives_the_same_bytes(made: dict[str, Path], tmp_path: Path) -> None:
    def sums(paths: dict[str, Path]) -> dict[str, str]:
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths.values()}

    assert sums(packages(tmp_path)) == sums(made)


def test_the_manual_page_has_every_command_of_the_usage_and_no_warning() -> None:
    usage = output(find_agent_program().path, "help")
    page = MANUAL.read_text(encoding="utf-8").replace("\\", "")
    commands = {line.partition("loadgo-agent ")[2].split()[0] for line in usage.splitlines() if "loadgo-agent " in line}
    assert {"ready", "meter", "doctor", "version", "clear"} <= commands
    assert all(command.strip("`") in page for command in commands)
    if shutil.which("groff") is None:
        pytest.skip("groff, which formats manual pages, is not here: apt-get install groff")
    formatted = subprocess.run(["groff", "-man", "-Tutf8", "-ww", MANUAL], capture_output=True, check=True)
    assert not formatted.stderr
