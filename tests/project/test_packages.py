"""The packages of the agent: built from its program, the same bytes twice, installed and removed in an empty root."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import loadgo
import pytest
from loadgo.hosts.delivery import find_agent_program
from support.outside import NEEDS_ROOT
from support.places import PROJECT

FILES = [
    "usr/bin/loadgo-agent",
    "usr/share/bash-completion/completions/loadgo-agent",
    "usr/share/doc/loadgo-agent/LICENSE-APACHE",
    "usr/share/doc/loadgo-agent/LICENSE-MIT",
    "usr/share/doc/loadgo-agent/LICENSES-RUST.txt.gz",
    "usr/share/fish/vendor_completions.d/loadgo-agent.fish",
    "usr/share/man/man1/loadgo-agent.1.gz",
]
"""The files of both packages, but for the lines for zsh, which Debian keeps in another folder."""
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


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with what `scripts/packages` reads of a clone, and with an empty dist/."""
    clone = tmp_path / "clone"
    (clone / "dist").mkdir(parents=True)
    (clone / "scripts").mkdir()
    for name in (
        "Cargo.toml",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "LICENSES-RUST.txt",
        "scripts/packages",
        "scripts/recipes",
    ):
        shutil.copy(PROJECT / name, clone / name)
    shutil.copytree(PROJECT / "packaging", clone / "packaging")
    return clone


def wheel(clone: Path, build: str = "") -> Path:
    """A wheel in dist/ that has the agent alone, without a permission to execute it, as unzipping leaves it."""
    path = clone / f"dist/loadgo-{loadgo.__version__}-{build}cp311-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        name = f"loadgo-{loadgo.__version__}.data/scripts/loadgo-agent"
        archive.writestr(name, find_agent_program().path.read_bytes())
    return path


def packaged(clone: Path) -> subprocess.CompletedProcess[str]:
    """`scripts/packages` without an argument in this clone, whose last commit is that of the project."""
    git_folder = output("git", "-C", PROJECT, "rev-parse", "--absolute-git-dir").strip()
    variables = os.environ | {"GIT_DIR": git_folder}
    return subprocess.run([clone / "scripts/packages"], capture_output=True, text=True, env=variables)


def test_no_gap_is_left_in_the_recipes_and_their_checksums_are_those_of_the_files(clone: Path) -> None:
    refused = subprocess.run([clone / "scripts/recipes"], capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (
        2,
        "recipes: name the project's page: scripts/recipes https://PAGE\n",
    )
    files = [wheel(clone), clone / f"dist/loadgo-{loadgo.__version__}.tar.gz"]
    files[1].write_bytes(b"the source")
    made = [clone / line for line in output(clone / "scripts/recipes", "https://page.test/").splitlines()]
    texts = [path.read_text(encoding="utf-8") for path in made]
    assert not [text for text in texts if re.search("@[A-Z0-9_]+@", text)]
    assert all("https://page.test/" in text and f"{loadgo.__version__}" in text for text in texts)
    for file in files:
        checksum = hashlib.sha256(file.read_bytes()).hexdigest()
        assert [checksum in text for text in texts].count(True) == 1
    easyconfig: dict[str, object] = {}
    exec(compile(texts[1], str(made[1]), "exec"), easyconfig)
    assert easyconfig["version"] == loadgo.__version__


def test_the_recipe_of_conda_asks_for_what_the_package_asks_for() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    recipe = (PROJECT / "packaging/conda-forge/recipe.yaml").read_text(encoding="utf-8")
    for section, wanted in (("host", project["build-system"]["requires"]), ("run", project["project"]["dependencies"])):
        listed = re.search(rf"^  {section}:\n((?:    .*\n)+)", recipe, re.MULTILINE)
        assert listed
        names = set(re.findall(r"^    - (.+)$", listed[1], re.MULTILINE)) - {"python >=3.11", "pip"}
        assert {name.replace("_", "-").replace(" ", "") for name in names} == {
            text.partition(";")[0].strip().replace("==", "") for text in wanted
        }


def installed(root: Path) -> list[str]:
    """The files of a root without those of the package managers."""
    paths = (path.relative_to(root) for path in (root / "usr").rglob("*") if path.is_file())
    return sorted(str(path) for path in paths if path.parts[:3] != ("usr", "lib", "sysimage"))


IN_ROOT = """
mount -t proc proc "$0/proc"
exec chroot "$0" /usr/bin/loadgo-agent "$@"
"""


def check_alone(root: Path) -> None:
    """Runs the program in a root that has nothing but it and the kernel's files: no Python, no shell, no library."""
    for folder in ("proc", "tmp"):
        (root / folder).mkdir(exist_ok=True)
    assert typed_in(root, "version").stdout == f"loadgo-agent {loadgo.__version__}\n"
    ready = typed_in(root, "ready", "--", "/usr/bin/loadgo-agent", "version")
    assert (ready.returncode, ready.stdout) == (0, f"loadgo-agent {loadgo.__version__}\n"), ready.stderr
    assert re.match("/usr/bin/loadgo-agent version: real ", ready.stderr), ready.stderr
    metered = typed_in(root, "meter", "--for", "100ms", "--meters", "none")
    assert "the processors' time:" in metered.stdout, metered.stderr
    doctor = typed_in(root, "doctor", "--full")
    assert (doctor.returncode, doctor.stderr) == (0, "")
    assert re.match(r"\d+ of \d+ abilities are here", doctor.stdout)


def typed_in(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The agent's command in a root, with `/proc` of this host while it runs."""
    inside = ["unshare", "--mount", "--propagation=private", "sh", "-ec", IN_ROOT, str(root), *words]
    return subprocess.run(inside, capture_output=True, text=True, stdin=subprocess.DEVNULL)


@NEEDS_ROOT
def test_the_deb_is_installed_in_an_empty_root_runs_there_and_leaves_nothing(
    made: dict[str, Path], tmp_path: Path
) -> None:
    for folder in ("info", "updates"):
        (tmp_path / "var/lib/dpkg" / folder).mkdir(parents=True)
    for name in ("status", "available"):
        (tmp_path / "var/lib/dpkg" / name).touch()
    output("dpkg", f"--root={tmp_path}", "--log=/dev/null", "--install", made[".deb"])
    assert installed(tmp_path) == [*FILES, "usr/share/zsh/vendor-completions/_loadgo-agent"]
    check_alone(tmp_path)
    output("dpkg", f"--root={tmp_path}", "--log=/dev/null", "--purge", "loadgo-agent")
    assert not installed(tmp_path)


@NEEDS_ROOT
def test_the_rpm_is_installed_in_an_empty_root_runs_there_and_leaves_nothing(
    made: dict[str, Path], tmp_path: Path
) -> None:
    if ".rpm" not in made:
        pytest.skip("rpmbuild, which makes an .rpm, is not here: apt-get install rpm")
    output("rpm", "--checksig", made[".rpm"])
    output("rpm", f"--root={tmp_path}", "--install", made[".rpm"])
    assert installed(tmp_path) == [*FILES, "usr/share/zsh/site-functions/_loadgo-agent"]
    check_alone(tmp_path)
    output("rpm", f"--root={tmp_path}", "--erase", "loadgo-agent")
    assert not installed(tmp_path)
    assert not (tmp_path / "usr/share/doc/loadgo-agent").exists()


def sums(paths: dict[str, Path]) -> dict[str, str]:
    """The checksum of each package."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths.values()}


def test_without_an_argument_the_program_is_that_of_the_wheel_and_the_same_program_gives_the_same_bytes(
    made: dict[str, Path], clone: Path
) -> None:
    """The packages are made a second time, in another folder, from the program that is taken out of a wheel."""
    wheel(clone)
    done = packaged(clone)
    assert done.returncode == 0, done.stderr
    assert sums({path.suffix: path for path in (clone / "dist").glob("loadgo-agent*")}) == sums(made)


def test_no_wheel_and_two_wheels_are_refused_in_words(clone: Path) -> None:
    done = packaged(clone)
    assert (done.returncode, done.stderr) == (
        2,
        "packages: there is no wheel in dist/: run `make dist`, or name a program\n",
    )
    names = [wheel(clone).name, wheel(clone, build="1-").name]
    done = packaged(clone)
    assert done.returncode == 2
    assert "dist/ has 2 wheels for x86_64: remove all but one, or name a program" in done.stderr
    assert all(name in done.stderr for name in names)
    assert not [*(clone / "dist").glob("loadgo-agent*")]


def test_the_installed_size_is_that_of_the_files_on_any_file_system(made: dict[str, Path], tmp_path: Path) -> None:
    output("dpkg-deb", "--extract", made[".deb"], tmp_path)
    paths = [tmp_path / "usr", *(tmp_path / "usr").rglob("*")]
    sizes = [-(-path.stat().st_size // 1024) if path.is_file() else 1 for path in paths]
    assert int(output("dpkg-deb", "--field", made[".deb"], "Installed-Size")) == sum(sizes)


def test_the_manual_page_has_every_command_of_the_usage_and_no_warning() -> None:
    usage = output(find_agent_program().path, "help")
    synopsis, _, descriptions = MANUAL.read_text(encoding="utf-8").replace(r"\-", "-").partition(".SH DESCRIPTION")
    commands = set(re.findall(r"loadgo-agent ([a-z]+)", usage)) | set(re.findall(r"`([a-z]+)(?: PID)?`", usage))
    assert {"ready", "meter", "doctor", "version", "clear", "serve", "hash", "wake"} <= commands
    shown = set(re.findall(r"\\fB(?:loadgo-agent )?([a-z]+)(?: |\\fR)", synopsis))
    headings = "".join(re.findall(r"^\.TP\n(.*\n)", descriptions, re.MULTILINE))
    described = set(re.findall(r"\\fB([a-z]+)\\fR", headings)) - {"others"}
    assert shown == described == commands
    if shutil.which("groff") is None:
        pytest.skip("groff, which formats manual pages, is not here: apt-get install groff")
    formatted = subprocess.run(["groff", "-man", "-Tutf8", "-ww", MANUAL], capture_output=True, check=True)
    assert not formatted.stderr
