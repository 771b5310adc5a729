"""Tries the wheel of dist/ in clean roots: installs it without a compiler, runs a load, and upgrades an older version.

Each root is a minimal system made by mmdebstrap, with apt, the distribution's Python and nothing else. Downloads come
before the first time is taken. A root whose Python is too old runs the wheel's programs alone, and so proves its glibc.
"""

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dist_wheel import PROJECT, mistakes, older

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
OLD_RUNS = PROJECT / "tests/runs/format-1"
OLDER_VERSION = "0.0.9"

# The mounts are in a namespace of the command's own, and end with it.
ENTER = """
mount -t proc proc "$0/proc"
mount --rbind /sys "$0/sys"
mount --rbind /dev "$0/dev"
exec chroot "$0" sh -ec "$1"
"""
SETTINGS = {
    "PATH": "/opt/loadgo/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PIP_CERT": str(CERTIFICATES),
    "PIP_FIND_LINKS": "/wheels",
}

# Five users, once through the script, with a fifth of the think times that people have.
LOAD = "loadgo run typical-user --users 5 --passes 1 --think 'uniform(0.5s, 3s)' >report"

# Each program has work to do: its own checksum, a product, and a batch host that is missing.
EACH_PROGRAM = """
./loadgo-agent hash
sha256sum <loadgo-agent | cut -d " " -f 1
echo "6 * 7" | ./loadgo-calculator --prompt ""
./loadgo-rjs submit none.deck 2>&1 | grep -c "the batch host?"
"""
AGENT_ALONE = """
./loadgo-agent ready -- true
./loadgo-agent meter --for 100ms --meters none
./loadgo-agent doctor --full
"""


# What the wheel has below share/ is what the installed program prints.
SHARED_FILES = """
cd /opt/loadgo/share
loadgo man /pages
for page in /pages/*; do cmp $page man/man1/${page##*/}; done
loadgo completions bash | cmp - bash-completion/completions/loadgo
loadgo completions zsh | cmp - zsh/site-functions/_loadgo
loadgo completions fish | cmp - fish/vendor_completions.d/loadgo.fish
"""


@dataclass(frozen=True)
class Distribution:
    """A system that people have, by its name for apt."""

    title: str
    suite: str
    options: tuple[str, ...] = ()
    """Options of mmdebstrap beside the name."""


# Ubuntu's signing key is no package of Debian. Its packages are taken as they come: this root is thrown away.
UBUNTU = (
    "--components=main,universe",
    "--aptopt=Acquire::AllowInsecureRepositories true",
    "--aptopt=APT::Get::AllowUnauthenticated true",
)
DISTRIBUTIONS = (
    Distribution("Debian 12", "bookworm"),
    Distribution("Debian 13", "trixie"),
    Distribution("Ubuntu 24.04", "noble", UBUNTU),
    Distribution("Debian 11", "bullseye"),
)


class Failed(Exception):
    """A command in a root that failed, with its output."""


class Skipped(Exception):
    """A root that cannot be tried, with the reason."""


@dataclass(frozen=True)
class Root:
    """A clean system in a folder."""

    folder: Path

    def run(self, script: str, accepted: tuple[int, ...] = (0,)) -> str:
        """Returns the output of a shell script in the root, with /proc, /sys and /dev of this host while it runs."""
        inside = ["unshare", "--mount", "--propagation=private", "sh", "-ec", ENTER, str(self.folder), script]
        settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")} | SETTINGS
        ended = subprocess.run(inside, env=settings, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if ended.returncode not in accepted:
            raise Failed(f"`{script}` ended with {ended.returncode}:\n{(ended.stdout + ended.stderr)[-3000:]}")
        return ended.stdout

    def timed(self, script: str, accepted: tuple[int, ...] = (0,)) -> "Spent":
        """The time that a script takes in the root."""
        began, used = time.monotonic(), processor_seconds()
        self.run(script, accepted)
        return Spent(time.monotonic() - began, processor_seconds() - used)


@dataclass(frozen=True)
class Spent:
    """The time that a script took, of which the processors' says more on a busy host."""

    seconds: float
    processor_seconds: float

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s ({self.processor_seconds:.1f} s of processor)"


def processor_seconds() -> float:
    """The processor time of all commands that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


@contextmanager
def clean_root(distribution: Distribution) -> Iterator[Root]:
    """A root of a distribution, which is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="loadgo-root-") as place:
        folder = Path(place) / distribution.suite
        make = ["mmdebstrap", "--quiet", "--variant=minbase", "--include=apt,python3-venv", *distribution.options]
        made = subprocess.run([*make, distribution.suite, str(folder)], capture_output=True, text=True)
        if made.returncode:
            raise Skipped(f"its packages cannot be had here: {made.stderr.strip().splitlines()[-1]}")
        # The venv's pip trusts what this host trusts.
        (folder / CERTIFICATES.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CERTIFICATES, folder / CERTIFICATES.relative_to("/"))
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        yield Root(folder)


def try_root(distribution: Distribution, wheel: Path) -> str:
    """How the wheel does in a clean root: its line of the table."""
    with clean_root(distribution) as root:
        root.run("for tool in cc gcc rustc cargo; do ! command -v $tool; done")
        for folder in ("wheels", "older"):
            (root.folder / folder).mkdir()
        shutil.copy(wheel, root.folder / "wheels")
        if root.run("python3 -c 'import sys; print(sys.version_info >= (3, 11))'").strip() == "False":
            return programs_alone(root, wheel)
        root.run(f"python3 -m venv /fetch; /fetch/bin/pip download -q -d /wheels /wheels/{wheel.name}; rm -r /fetch")
        figures = install_and_run(root, wheel)
        upgrade(root, wheel, older(wheel, OLDER_VERSION, root.folder / "older"))
        return f"{figures}; upgraded from {OLDER_VERSION}, which left the reports of {OLD_RUNS.name} as they were"


def install_and_run(root: Root, wheel: Path) -> str:
    """Installs the wheel and runs five users; the times and sizes as a text."""
    environment = root.timed("python3 -m venv /opt/loadgo")
    installed = root.timed(f"pip install -q --no-index /wheels/{wheel.name}")
    # The status 1 says that the finding is bad, as it is where this host is busy.
    loaded = root.timed(f"cd /root; {LOAD}", (0, 1))
    report = (root.folder / "root/report").read_text()
    if "compile" not in report:
        raise Failed(f"the report has no line on `compile`:\n{report[-2000:]}")
    charts_without_extra(root)
    root.run(SHARED_FILES)
    start = min((root.timed("loadgo --help") for _ in range(5)), key=lambda spent: spent.processor_seconds)
    fetched = megabytes(root, "/wheels")
    size, own = megabytes(root, "/opt/loadgo"), megabytes(root, "/opt/loadgo/lib/*/*/loadgo /opt/loadgo/bin/loadgo*")
    return (
        f"venv {environment}, installation {installed}, first report {loaded} later; "
        f"{fetched} MB fetched, {size} MB installed, {own} of them loadgo; `loadgo --help` {start}"
    )


def charts_without_extra(root: Root) -> None:
    """Makes the page of the run, which draws its own charts, and asks for a picture, which needs an extra."""
    root.run("cd /root; loadgo report last --format html -o page.html", (0, 1))
    if "vegaEmbed" not in (root.folder / "root/page.html").read_text():
        raise Failed("the page has no charts")
    refusal = root.run("cd /root; loadgo report last --format svg 2>&1", (2,))
    if "loadgo[charts]" not in refusal:
        raise Failed(f"a picture without the extra was answered with:\n{refusal}")


def megabytes(root: Root, places: str) -> int:
    """The megabytes that files and folders of a root take."""
    return int(root.run(f"du -scm {places} | tail -n 1").split()[0])


def upgrade(root: Root, wheel: Path, old_wheel: Path) -> None:
    """Puts the older version in place, reports the kept runs, upgrades, and reports them again."""
    shutil.copytree(OLD_RUNS, root.folder / "root/format-1")
    root.run(f"pip install -q --no-index --no-deps /older/{old_wheel.name}")
    before = version_and_reports(root)
    root.run("pip install -q --upgrade --no-index loadgo")
    after = version_and_reports(root)
    if (before[0], after[0]) != (OLDER_VERSION, wheel.name.split("-")[1]):
        raise Failed(f"the version was {before[0]} before the upgrade, and is {after[0]}")
    if not all(after[1:]) or before[1:] != after[1:]:
        raise Failed("a run of format 1 has another report after the upgrade, or none")


def version_and_reports(root: Root) -> list[str]:
    """The installed version, and what `loadgo report` prints of each kept run."""
    version = root.run("pip show loadgo 2>&1 | sed -n 's/^Version: //p'").strip()
    runs = sorted(run.name for run in OLD_RUNS.iterdir())
    return [version, *(root.run(f"loadgo report /root/format-1/{run}", (0, 1)) for run in runs)]


def programs_alone(root: Root, wheel: Path) -> str:
    """Runs the wheel's programs in a root whose Python is too old for the package."""
    python = root.run("python3 -V").strip()
    root.run(f"mkdir /programs; cd /programs; python3 -m zipfile -e /wheels/{wheel.name} .; chmod +x */scripts/*")
    answers = root.run(f"cd /programs/*.data/scripts; {EACH_PROGRAM}").split()
    if answers[0] != answers[1] or answers[2:] != ["42", "1"]:
        raise Failed(f"the programs answered {answers}")
    root.run(f"cd /programs/*.data/scripts; {AGENT_ALONE}")
    return (
        f"{python} is too old for loadgo (3.11 or later), so it was not installed; its three programs run, "
        "and the agent says what a command used, where the time goes, and what can be measured"
    )


def main() -> int:
    """Checks the wheel, tries each root, prints a line for each; 1 when one failed."""
    failed = False
    for each in sorted((PROJECT / "dist").glob("*.whl")):
        wrong = mistakes(each)
        failed |= bool(wrong)
        good = f"{each.name}: {each.stat().st_size / 1e6:.1f} MB; files, glibc and checksums are as expected"
        print("\n".join(wrong) or good, flush=True)
    (wheel,) = (PROJECT / "dist").glob(f"*_{platform.machine()}.whl")
    for distribution in DISTRIBUTIONS:
        if sys.argv[1:] and distribution.suite not in sys.argv[1:]:
            continue
        try:
            print(f"{distribution.title}: {try_root(distribution, wheel)}", flush=True)
        except Skipped as reason:
            print(f"{distribution.title}: skipped: {reason}", flush=True)
        except Failed as reason:
            failed = True
            print(f"{distribution.title}: FAILED: {reason}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
