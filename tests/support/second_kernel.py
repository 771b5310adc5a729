"""A second kernel: Debian's for cloud machines, emulated in software, with the built meters as its first process.

It is one for x86-64. `LOADGO_SECOND_MACHINE=aarch64` takes one for Arm, with programs that are built for it here.
"""

from __future__ import annotations

import json
import os
import platform
import re
import select
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.outside import PATIENCE_S
from support.places import PROJECT

KERNEL = Path(os.environ.get("LOADGO_SECOND_KERNEL") or PROJECT / ".venv" / "second-kernel" / "vmlinuz")
"""Debian's, or another one that somebody wants to try: `scripts/kernels`."""
MODULES = KERNEL.parent / "modules"
LOADED = ("gf128mul", "ghash-generic", "ctr", "gcm", "tls")
"""In the order in which they need each other."""
IS_ARM = os.environ.get("LOADGO_SECOND_MACHINE") == "aarch64"
EMULATOR = "qemu-system-aarch64" if IS_ARM else "qemu-system-x86_64"
# The clock that the kernel of x86-64 would take otherwise is an emulated device, and dear to read; where the host is
# busy, the kernel's trial of its timer fails.
BOOT = f"quiet panic=-1 {'console=ttyAMA0' if IS_ARM else 'console=ttyS0 tsc=reliable no_timer_check'}"
# The plainest processor: the kernel copies pages with the string instructions of newer ones, and these are emulated a
# byte at a time, for half of the whole time.
MACHINE = ["-M", "virt", "-cpu", "cortex-a72", "-m", "768"] if IS_ARM else ["-cpu", "qemu64", "-m", "512"]
ARM_TARGET, ARM_TOOLS = "aarch64-unknown-linux-gnu", "aarch64-linux-gnu-"
# A clock that goes by instructions, 4 ns each, so that nothing that the host does is in any time; it wants a machine
# with one processor. And one with two, whose clock is the host's: for what is counted. One thread emulates both: with
# a thread each, QEMU 7.2 may go on with an instruction that the kernel has patched on the other processor. A breakpoint
# of that patching is then taken for ever, though the memory no longer has it, and the machine hangs.
ONE = ["-accel", "tcg,thread=single", "-icount", "shift=2,sleep=off", "-smp", "1"]
TWO = ["-accel", "tcg,thread=single", "-smp", "2"]
ALONE = ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"]


@dataclass(frozen=True)
class MachineOutput:
    """The lines that the first process printed, in words: tier, load, table, names, values."""

    processors: int
    lines: list[list[str]] = field(repr=False)
    console: str = field(repr=False)
    """The whole output, for a failure's message."""

    def rows(self, tier: str, load: str, table: str) -> list[list[str]]:
        """Names and values of one table, of one load."""
        return [line[3:] for line in self.lines if line[:3] == [tier, load, table]]

    def count(self, tier: str, load: str, table: str, *names: str) -> int:
        """The first value of the one row with these names, or 0 if there is none."""
        found = [row for row in self.rows(tier, load, table) if row[: len(names)] == list(names)]
        assert len(found) <= 1, found
        return int(found[0][len(names)]) if found else 0

    def kernel(self, tier: str, load: str, name: str) -> tuple[int, int]:
        """The least and the most that the kernel's own figures allow."""
        (row,) = [row for row in self.rows(tier, load, "kernel") if row[0] == name]
        return int(row[1]), int(row[2])

    def time(self, tier: str, load: str, category: str) -> int:
        """Nanoseconds of all processors whose category begins so."""
        return sum(int(row[2]) for row in self.rows(tier, load, "time") if row[1].startswith(category))


def missing() -> str | None:
    """Why no second kernel can be emulated here; None when one can."""
    if platform.machine() != "x86_64":
        return f"the second kernel is one for x86-64, and this is {platform.machine()}"
    if shutil.which(EMULATOR) is None:
        brought_by = "apt-get install qemu-system-arm" if IS_ARM else "scripts/setup dev brings it by apt, as root"
        return f"there is no {EMULATOR}: {brought_by}"
    if IS_ARM and shutil.which(f"{ARM_TOOLS}gcc") is None:
        return f"there is no {ARM_TOOLS}gcc: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
    if not KERNEL.exists():
        return f"there is no {KERNEL}: scripts/setup dev brings Debian's kernel by apt (linux-image-cloud-amd64)"
    return None


def skip_if(missing: str | None, untried: str) -> None:
    """Skips a test that lacks something. Where it should be installed, that is a failure."""
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        pytest.fail(missing)
    if missing:
        pytest.skip(f"{untried} were not tried on a second kernel: {missing}")


def missing_modules() -> str | None:
    """Why that kernel has no TLS of its own here; None when it has."""
    absent = [name for name in LOADED if not (MODULES / f"{name}.ko").exists()]
    if absent:
        return f"there is no {MODULES}/{absent[0]}.ko: scripts/setup dev brings it with Debian's kernel"
    return None if shutil.which("ip") else "there is no ip: install iproute2"


def cpio_entry(name: str, mode: int, content: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    """One file of an archive as the kernel's Documentation/driver-api/early-userspace/buffer-format.rst has it."""
    path = name.encode() + b"\0"
    # inode, mode, owner, group, links, time, size, device of the archive (2), device (2), length of the name, checksum
    numbers = [0, mode, 0, 0, 1, 0, len(content), 0, 0, *device, len(path), 0]
    head = b"070701" + b"".join(b"%08X" % number for number in numbers) + path
    return head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4)


def initramfs(files: Mapping[str, Path]) -> bytes:
    """An archive of `files` by where they are in it, `/init` among them, with a console and the libraries they need."""
    libraries = sorted({library for path in files.values() for library in libraries_of(path)})
    inside = {**{path: Path(path) for path in libraries}, **files}
    contents = {at: path.read_bytes() for at, path in inside.items()}
    return cpio_archive(contents, dict.fromkeys(contents, 0o755), ("/dev", "/proc", "/sys"))


def cpio_archive(contents: Mapping[str, bytes], modes: Mapping[str, int], folders: Sequence[str]) -> bytes:
    """An archive of files with these contents and modes by their places, with empty `folders` and a console."""
    above = {
        str(parent) for path in (*contents, *(f"{folder}/." for folder in folders)) for parent in Path(path).parents
    }
    entries = [cpio_entry(folder.lstrip("/"), 0o40755) for folder in sorted({*above, *folders} - {"/"})]
    entries += [cpio_entry(at.lstrip("/"), 0o100000 | modes[at], content) for at, content in contents.items()]
    entries.append(cpio_entry("dev/console", 0o20600, device=(5, 1)))
    return b"".join([*entries, cpio_entry("TRAILER!!!", 0)])


def libraries_of(program: Path) -> list[str]:
    """Where the libraries are that `program` needs; a module of the kernel's and a program for Arm need none."""
    if program.suffix == ".ko" or IS_ARM:
        return []
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"(/\S+) \(0x", said)


def built(example: str, folder: Path) -> Path:
    """An example program, built as `cargo test --workspace` builds it, without what debuggers read.

    Of one package alone, cargo would build all dependencies anew, with other features. The emulated machine unpacks the
    program into its memory, and starts it many times.
    """
    what = ["--workspace", "--example", example]
    command = ["cargo", "build", "--quiet", *what, "--message-format", "json-render-diagnostics"]
    command += ["--target", ARM_TARGET] if IS_ARM else []
    result = subprocess.run(command, cwd=PROJECT, env=_building(), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    messages = [json.loads(line) for line in result.stdout.splitlines()]
    (program,) = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == example]
    small = folder / example
    strip = f"{ARM_TOOLS}strip" if IS_ARM else "strip"
    subprocess.run([strip, "--strip-debug", "-o", small, program], check=True)
    return small


def _building() -> dict[str, str]:
    """The environment of cargo. Programs for Arm are static, since its libraries are not here."""
    if not IS_ARM:
        return dict(os.environ)
    name = ARM_TARGET.replace("-", "_")
    tools = {
        f"CC_{name}": f"{ARM_TOOLS}gcc",
        f"AR_{name}": f"{ARM_TOOLS}ar",
        f"CARGO_TARGET_{name.upper()}_LINKER": f"{ARM_TOOLS}gcc",
        f"CARGO_TARGET_{name.upper()}_RUSTFLAGS": "-C target-feature=+crt-static",
    }
    return {**os.environ, **tools}


def boot(archive: Path, processors: int) -> MachineOutput:
    """Emulates the machine until it powers itself off, or prints nothing for too long."""
    processing = {1: ONE, 2: TWO}[processors]
    starting = ["-kernel", str(KERNEL), "-initrd", str(archive), "-append", BOOT]
    command = [EMULATOR, *MACHINE, *processing, *ALONE, *starting]
    machine = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        console = _printed_by(machine)
    finally:
        machine.kill()
        machine.communicate()
    lines = [line.split("\t") for line in re.findall(r"^loadgo\t(.*)$", console.replace("\r", ""), re.MULTILINE)]
    return MachineOutput(processors, lines, console)


def _printed_by(machine: subprocess.Popen[bytes]) -> str:
    """All that a machine prints until it ends, or has printed nothing for too long."""
    assert machine.stdout is not None
    printed = b""
    while select.select([machine.stdout], [], [], PATIENCE_S)[0]:
        piece = os.read(machine.stdout.fileno(), 1 << 16)
        printed += piece
        if not piece:
            break
    return printed.decode(errors="replace")


def metered_output(folder: Path, processors: int) -> MachineOutput:
    """The output of an emulated machine with this number of processors; its archive is made in `folder`."""
    archive = folder / "initramfs"
    archive.write_bytes(initramfs({"/init": built("inside", folder)}))
    return complete(boot(archive, processors))


def transfer_output(folder: Path) -> MachineOutput:
    """The output of an emulated machine that makes transfers, with the modules for the kernel's own TLS."""
    modules = {f"/modules/{at}-{name}.ko": MODULES / f"{name}.ko" for at, name in enumerate(LOADED)}
    ip = {"/bin/ip": Path(shutil.which("ip") or "/sbin/ip").resolve()}
    archive = folder / "initramfs"
    archive.write_bytes(initramfs({"/init": built("transfers_inside", folder), **ip, **modules}))
    return complete(boot(archive, 1))


def limited_output(folder: Path) -> MachineOutput:
    """The output of an emulated machine whose user runs with limits in a control group of the user's own."""
    programs = {f"/bin/{name}": Path(shutil.which(name) or f"/bin/{name}").resolve() for name in ("sh", "sleep")}
    archive = folder / "initramfs"
    archive.write_bytes(initramfs({"/init": built("limits_inside", folder), **programs}))
    return complete(boot(archive, 1))


def complete(output: MachineOutput) -> MachineOutput:
    """The output of a machine, which must be complete."""
    if ["end"] not in output.lines or any(line[0] == "failed" for line in output.lines):
        pytest.fail(f"the machine did not tell all:\n{output.console[-4000:]}")
    return output
