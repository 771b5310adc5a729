"""Clean systems in folders, made by mmdebstrap: with apt, the distribution's Python and nothing else.

A system of another processor is emulated: its packages are unpacked and not configured, which its programs would do.
"""

import os
import platform
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

# The mounts are in a namespace of the command's own, and end with it.
ENTER = """
mount -t proc proc "$0/proc"
mount --rbind /sys "$0/sys"
mount --rbind /dev "$0/dev"
exec chroot "$0" sh -ec "$1"
"""
# How the kernel knows a program for 64-bit Arm: the head of an ELF file, and which of its bits count.
HEAD = r"\x7fELF\x02\x01\x01" + 9 * r"\x00" + r"\x02\x00\xb7\x00"
MASK = 7 * r"\xff" + r"\x00" + 8 * r"\xff" + r"\xfe\xff\xff\xff"
# Linux 6.7 and later give a user namespace its own list of emulators: this host's stays as it is.
EMULATE = f"""
mkdir -p "$0/emulators"
mount -t binfmt_misc none "$0/emulators"
printf '%s' ':loadgo:M::{HEAD}:{MASK}:EMULATOR:OCF' >"$0/emulators/register"
"""
SETTINGS = {
    "PATH": "/opt/loadgo/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "PIP_CERT": str(CERTIFICATES),
    "PIP_FIND_LINKS": "/wheels",
}

MINIMAL = ("--variant=minbase", "--include=apt,python3-venv")


@dataclass(frozen=True)
class Distribution:
    """A system that people have, by its name for apt."""

    title: str
    suite: str
    options: tuple[str, ...] = MINIMAL
    """Options of mmdebstrap beside the name."""
    machine: str = platform.machine()

    @property
    def name(self) -> str:
        """The name that `scripts/dist-check` knows it by."""
        return self.suite if self.machine == platform.machine() else self.machine


# Ubuntu's signing key is no package of Debian. Its packages are taken as they come: this root is thrown away.
UBUNTU = (
    *MINIMAL,
    "--components=main,universe",
    "--aptopt=Acquire::AllowInsecureRepositories true",
    "--aptopt=APT::Get::AllowUnauthenticated true",
)
# Unpacked alone, a root has no package that nobody names: not even a shell.
UNPACKED_ARM = (
    "--variant=extract",
    "--architectures=arm64",
    "--include=python3,python3-venv,dash,coreutils,grep,sed,base-files,diffutils,libc-bin,libstdc++6,procps",
)
DISTRIBUTIONS = (
    Distribution("Debian 12", "bookworm"),
    Distribution("Debian 13", "trixie"),
    Distribution("Ubuntu 24.04", "noble", UBUNTU),
    Distribution("Debian 11", "bullseye"),
    Distribution("Debian 12 on aarch64, emulated", "bookworm", UNPACKED_ARM, "aarch64"),
)


class Failed(Exception):
    """A command in a root that failed, with its output."""


class Skipped(Exception):
    """A root that cannot be tried, with the reason."""


@dataclass(frozen=True)
class Root:
    """A clean system in a folder."""

    folder: Path
    emulator: str = ""
    """The program that runs those of the root; nothing where the host itself does."""

    @property
    def unshared(self) -> list[str]:
        """The command that gives a script its own namespaces, and with an emulator its own list of emulators."""
        mounts = ["unshare", "--mount", "--propagation=private"]
        return [*mounts, "--user", "--map-root-user", "--pid", "--fork"] if self.emulator else mounts

    @property
    def entering(self) -> str:
        """The script that enters the root."""
        return EMULATE.replace("EMULATOR", self.emulator) + ENTER if self.emulator else ENTER

    def run(self, script: str, accepted: tuple[int, ...] = (0,)) -> str:
        """Returns the output of a shell script in the root, with /proc, /sys and /dev of this host while it runs."""
        inside = [*self.unshared, "sh", "-ec", self.entering, str(self.folder), script]
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
    emulator = emulator_of(distribution.machine)
    with tempfile.TemporaryDirectory(prefix="loadgo-root-") as place:
        folder = Path(place) / distribution.suite
        make = ["mmdebstrap", "--quiet", *distribution.options]
        made = subprocess.run([*make, distribution.suite, str(folder)], capture_output=True, text=True)
        if made.returncode:
            raise Skipped(f"its packages cannot be had here: {made.stderr.strip().splitlines()[-1]}")
        # The venv's pip trusts what this host trusts.
        (folder / CERTIFICATES.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CERTIFICATES, folder / CERTIFICATES.relative_to("/"))
        shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
        for needed in ("proc", "sys", "dev", "root", "tmp"):
            (folder / needed).mkdir(exist_ok=True)
        if not (folder / "etc/passwd").exists():  # where no package's script has made it
            (folder / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
        yield Root(folder, emulator)


def emulator_of(machine: str) -> str:
    """The program that runs programs of this machine here; nothing for this host's own."""
    if machine == platform.machine():
        return ""
    emulator = shutil.which(f"qemu-{machine}-static")
    if emulator is None:
        raise Skipped(
            f"qemu-{machine}-static, which emulates the processor, is missing: apt-get install qemu-user-static"
        )
    return emulator
