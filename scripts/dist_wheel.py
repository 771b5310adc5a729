"""Checks a wheel: its name, its files, which hosts its binaries run on, and that no path of this host is in it."""

import hashlib
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

PROJECT = Path(__file__).resolve().parent.parent
WHEEL_NAME = re.compile(r"loadgo-([\d.]+)-cp311-abi3-manylinux_2_28_(x86_64|aarch64)\.whl")
NEWEST_GLIBC = (2, 28)

STATIC = ("loadgo-agent", "loadgo-calculator")
"""Programs that ask nothing of a host's glibc: one is copied to other hosts, one starts by the thousand."""

METADATA = (
    "METADATA",
    "RECORD",
    "WHEEL",
    "entry_points.txt",
    "licenses/LICENSE-APACHE",
    "licenses/LICENSE-MIT",
    "licenses/LICENSES-RUST.txt",
    "top_level.txt",
)


def mistakes(wheel: Path) -> list[str]:
    """The mistakes in a wheel and in the checksums beside it, a sentence each."""
    name = WHEEL_NAME.fullmatch(wheel.name)
    if not name:
        return [f"{wheel.name} is no wheel of manylinux_2_28 for every Python from 3.11"]
    with zipfile.ZipFile(wheel) as archive:
        content = {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
    wanted = expected_files(name[1])
    wrong = [f"the wheel lacks {file}" for file in sorted(wanted - content.keys())]
    wrong += [f"the wheel has {file}, which nobody expects" for file in sorted(content.keys() - wanted)]
    binaries = {file: data for file, data in content.items() if data.startswith(b"\x7fELF")}
    wrong += [sentence for file, data in binaries.items() for sentence in binary_mistakes(Path(file).name, data)]
    wrong += [f"{file} names a folder of this host" for file, data in content.items() if names_this_host(data)]
    return wrong + checksum_mistakes(wheel.parent)


def expected_files(version: str) -> set[str]:
    """The committed files, what the build makes, the three programs, the files below `share/`, and the metadata."""
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD", "python/loadgo"],
        cwd=PROJECT,
        check=True,
        capture_output=True,
        text=True,
    )
    files = {line.removeprefix("python/") for line in listed.stdout.splitlines()}
    programs = {f"loadgo-{version}.data/scripts/{program}" for program in (*STATIC, "loadgo-rjs")}
    made = {"loadgo/_loadgo.abi3.so", "loadgo/documents/libraries/vega.js"}
    shared = {f"loadgo-{version}.data/data/{path}" for path in shared_paths()}
    return files | programs | made | shared | {f"loadgo-{version}.dist-info/{file}" for file in METADATA}


def shared_paths() -> set[str]:
    """A manual page of each command and both programs, and what three shells need to complete these."""
    sys.path.insert(0, str(PROJECT / "python"))
    from loadgo.cli.command_list import LISTED_COMMANDS

    pages = ["loadgo", "loadgo-agent", *(f"loadgo-{name}" for name in LISTED_COMMANDS)]
    lines = ("bash-completion/completions/{}", "zsh/site-functions/_{}", "fish/vendor_completions.d/{}.fish")
    completions = {path.format(program) for path in lines for program in ("loadgo", "loadgo-agent")}
    return {f"share/{path}" for path in completions | {f"man/man1/{page}.1" for page in pages}}


def binary_mistakes(name: str, data: bytes) -> list[str]:
    """Where a binary asks for more of a host than it may."""
    binary = ELFFile(io.BytesIO(data))
    dynamic = binary.get_section_by_name(".dynamic")
    needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")] if isinstance(dynamic, DynamicSection) else []
    if name in STATIC:
        return [f"{name} is not static: it needs {', '.join(needed)}"] if needed else []
    newest = max(glibc_versions(binary), default=(0,))
    return [f"{name} needs glibc {'.'.join(map(str, newest))}"] if newest > NEWEST_GLIBC else []


def glibc_versions(binary: ELFFile) -> set[tuple[int, ...]]:
    """The versions of glibc whose symbols a binary asks for."""
    section = binary.get_section_by_name(".gnu.version_r")
    if not isinstance(section, GNUVerNeedSection):
        return set()
    names = [version.name for _, versions in section.iter_versions() for version in versions]
    numbers = (name.removeprefix("GLIBC_").split(".") for name in names if re.fullmatch(r"GLIBC_[\d.]+", name))
    return {tuple(map(int, number)) for number in numbers}


def names_this_host(data: bytes) -> bool:
    """Whether a file has the path of this clone or of the user's home in it."""
    return any(f"{place}/".encode() in data for place in (PROJECT, Path.home() / ".cargo", Path.home() / ".rustup"))


def checksum_mistakes(folder: Path) -> list[str]:
    """The files of a release whose sum in SHA256SUMS is missing or another."""
    lines = (folder / "SHA256SUMS").read_text().splitlines()
    sums = {name: checksum for checksum, name in (line.split(maxsplit=1) for line in lines)}
    files = [file for file in sorted(folder.iterdir()) if file.name != "SHA256SUMS"]
    wrong = [file.name for file in files if sums.get(file.name) != hashlib.sha256(file.read_bytes()).hexdigest()]
    return [f"SHA256SUMS is wrong about {name}" for name in wrong]


def older(wheel: Path, version: str, folder: Path) -> Path:
    """The same wheel under an older version, in `folder`: what an upgrade upgrades."""
    current = wheel.name.split("-")[1]
    copy = folder / wheel.name.replace(current, version, 1)
    with zipfile.ZipFile(wheel) as given, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as old:
        for entry in given.infolist():
            data = given.read(entry)
            if entry.filename.endswith(".dist-info/METADATA"):
                data = data.replace(f"\nVersion: {current}\n".encode(), f"\nVersion: {version}\n".encode(), 1)
            if entry.filename.endswith(".dist-info/RECORD"):
                data = re.sub(rb"(?m)^(.*/METADATA),.*$", rb"\1,,", data).replace(
                    f"loadgo-{current}".encode(), f"loadgo-{version}".encode()
                )
            entry.filename = entry.filename.replace(f"loadgo-{current}", f"loadgo-{version}", 1)
            old.writestr(entry, data)
    return copy
