"""The signature of a run: the SHA-256 of all its files in `SHA256SUMS`, signed by the user's ssh key.

Nothing here is a format of our own: `sha256sum -c SHA256SUMS` and `ssh-keygen -Y verify -n loadgo` check the same
without loadgo.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from loadgo.errors import BadArgument, Refused, error_in_words
from loadgo.records.run_file import read_small
from loadgo.verification.results import Verdict, VerifiedFile, VerifiedPoint

SUMS_FILE, SIGNATURE_FILE = "SHA256SUMS", "SHA256SUMS.sig"
SIGNATURE_FILES = frozenset({SUMS_FILE, SIGNATURE_FILE})
SIGNATURE_NAMESPACE = "loadgo"
"""The purpose of the signature, so that none made for another purpose counts."""
UNSIGNED_WORD = "nobody"
_SIGNATURE = "the signature"
NO_SUMS = f"there is no {SUMS_FILE}: nobody signed the run"
_HASH_CHARS = 64
_LIMIT_S = 120.0
"""Longest time for ssh-keygen, which may ask for a passphrase or wait for a touch of a security key."""


def sign(folder: Path, files: Sequence[VerifiedFile], key: Path) -> None:
    """Writes `SHA256SUMS` and its signature into the run's folder.

    Raises `BadArgument` for a name of a file that a line cannot hold. Raises `Refused` if ssh-keygen does not sign, or
    if the files cannot be written; then an earlier signature is as it was.
    """
    unfit = [file.name for file in files if "\n" in file.name or "\\" in file.name]
    if unfit:
        raise BadArgument(f"the name {unfit[0]!r} cannot stand in {SUMS_FILE}: rename or remove the file")
    text = "".join(f"{file.sha256}  {file.name}\n" for file in files)
    signed = _keygen(["sign", "-f", str(key)], text.encode())
    if signed.returncode or b"SSH SIGNATURE" not in signed.stdout:
        raise Refused(f"ssh-keygen does not sign with {key}: {_said(signed)}")
    _write_both(folder, {SUMS_FILE: text.encode(), SIGNATURE_FILE: signed.stdout})


def _write_both(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Writes the files, or leaves those of their names as they were: half a signature would break the run."""
    new, earlier = ({folder / name: folder / f"{name}.{part}" for name in contents} for part in ("part", "earlier"))
    placed: list[Path] = []
    set_aside: list[Path] = []
    try:
        for name, content in contents.items():
            new[folder / name].write_bytes(content)
        for path in filter(Path.is_file, new):
            path.replace(earlier[path])
            set_aside.append(path)
        for path, part in new.items():
            part.replace(path)
            placed.append(path)
    except OSError as error:
        for path in (*new.values(), *placed):
            path.unlink(missing_ok=True)
        for path in set_aside:
            earlier[path].replace(path)
        raise Refused(f"the signature cannot be written into {folder}: {error_in_words(error)}") from error
    for path in set_aside:
        earlier[path].unlink()


def signature_points(folder: Path, files: Sequence[VerifiedFile], signers: Path | None) -> Iterator[VerifiedPoint]:
    """The checks of the hashes in `SHA256SUMS` and of its signature. `signers` is an allowed-signers file of ssh."""
    sums = folder / SUMS_FILE
    if not sums.exists():
        verdict: Verdict = "not checkable" if signers is None else "broken"
        yield VerifiedPoint("signature", _SIGNATURE, verdict, NO_SUMS)
        return
    try:
        content = read_small(sums)
        known = _sums(content.decode())
    except (OSError, ValueError) as error:
        yield VerifiedPoint("signature", SUMS_FILE, "broken", f"it cannot be read: {error_in_words(error)}")
        return
    yield from _sum_points(known, files)
    yield _signature_point(folder / SIGNATURE_FILE, content, signers)


def _sums(text: str) -> dict[str, str]:
    """The hash of each file. Raises `ValueError` for a line that is not of `sha256sum`."""
    known = {}
    for number, line in enumerate(text.splitlines(), 1):
        digest, gap, name = line[:_HASH_CHARS], line[_HASH_CHARS : _HASH_CHARS + 2], line[_HASH_CHARS + 2 :]
        if gap != "  " or not name or set(digest) - set("0123456789abcdef"):
            raise BadArgument(f"line {number} is no hash and name")
        known[name] = digest
    return known


def _sum_points(signed_sums: Mapping[str, str], files: Sequence[VerifiedFile]) -> Iterator[VerifiedPoint]:
    present = {file.name: file.sha256 for file in files}
    broken = []
    for name in sorted({*signed_sums, *present}):
        if name not in present:
            broken.append((name, f"{SUMS_FILE} names it, and it is gone"))
        elif name not in signed_sums:
            broken.append((name, "it was added after the run was signed"))
        elif signed_sums[name] != present[name]:
            broken.append((name, f"its SHA-256 is not that of {SUMS_FILE}"))
    for name, text in broken:
        yield VerifiedPoint("signature", name, "broken", text)
    if not broken:
        yield VerifiedPoint("signature", SUMS_FILE, "holds", f"the SHA-256 of all {len(signed_sums):,} files")


def _signature_point(path: Path, content: bytes, signers: Path | None) -> VerifiedPoint:
    """The check of the signature over the content of `SHA256SUMS`."""
    name = _SIGNATURE
    if not path.is_file():
        return VerifiedPoint("signature", name, "broken", f"{SIGNATURE_FILE} is gone")
    if signers is None:
        checked = _keygen(["check-novalidate", "-s", str(path)], content)
        if checked.returncode:
            return VerifiedPoint("signature", name, "broken", f"it is not one of {SUMS_FILE}: {_said(checked)}")
        text = f"{_said(checked)}; whose key that is, only --signers FILE can tell"
        return VerifiedPoint("signature", name, "not checkable", text)
    found = _keygen(["find-principals", "-s", str(path), "-f", str(signers)], b"")
    principal = found.stdout.decode(errors="replace").partition("\n")[0].strip()
    if found.returncode or not principal:
        return VerifiedPoint("signature", name, "broken", f"{signers} does not know its key: {_said(found)}")
    checked = _keygen(["verify", "-f", str(signers), "-I", principal, "-s", str(path)], content)
    if checked.returncode:
        return VerifiedPoint("signature", name, "broken", f"it is not one of {SUMS_FILE}: {_said(checked)}")
    return VerifiedPoint("signature", name, "holds", f"by {principal}")


def signer_in(points: Sequence[VerifiedPoint]) -> str:
    """The name of who signed the run, from the checks of its signature."""
    found = [point for point in points if point.name == _SIGNATURE]
    if not found or found[-1].text == NO_SUMS:
        return UNSIGNED_WORD
    if found[-1].verdict == "broken":
        return "not known: the signature does not hold"
    return found[-1].text.removeprefix("by ")


def _keygen(arguments: Sequence[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
    """Runs `ssh-keygen -Y`. Raises `Refused` if there is none, or if it does not end."""
    action, *others = arguments
    namespace = [] if action == "find-principals" else ["-n", SIGNATURE_NAMESPACE]
    try:
        return subprocess.run(
            ["ssh-keygen", "-Y", action, *namespace, *others], input=given, capture_output=True, timeout=_LIMIT_S
        )
    except FileNotFoundError:
        raise Refused("there is no ssh-keygen on the PATH, which signs and checks: install OpenSSH's client") from None
    except subprocess.TimeoutExpired:
        raise Refused(f"ssh-keygen did not answer within {_LIMIT_S:.0f} s") from None


def _said(process: subprocess.CompletedProcess[bytes]) -> str:
    text = (process.stderr.strip() or process.stdout.strip()).decode(errors="replace")
    return text.split("\n")[0].strip() or f"status {process.returncode}"
