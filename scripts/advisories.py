"""Compares the pinned Python packages with PyPA's advisory database in a local folder, without a network.

`python scripts/advisories.py FOLDER FILE…`: FOLDER is a clone of the database, each FILE has lines `name==version`.
It prints each advisory that names a pinned version. Its status is 1 if there are any.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
"""A pinned package: its name and its version."""


def pins(files: list[Path]) -> dict[tuple[str, str], list[str]]:
    """The names of the files that pin each package, by its name and version."""
    found: dict[tuple[str, str], list[str]] = {}
    for file in files:
        for name, version in PIN.findall(file.read_text(encoding="utf-8")):
            found.setdefault((canonicalize_name(name), version), []).append(file.name)
    return found


def advisories(database: Path, name: str) -> Iterator[dict[str, Any]]:
    """The advisories on a package that were not withdrawn."""
    for file in sorted((database / "vulns" / name).glob("*.yaml")):
        advisory = yaml.safe_load(file.read_text(encoding="utf-8"))
        if "withdrawn" not in advisory:
            yield advisory


def affects(advisory: dict[str, Any], name: str, version: str) -> bool:
    """Whether the advisory lists this version of the package, or has it in a range."""
    return any(
        version in part.get("versions", ()) or any(within(span["events"], version) for span in ordered(part))
        for part in advisory["affected"]
        if canonicalize_name(part["package"]["name"]) == name
    )


def ordered(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The ranges of versions, without those of commits."""
    return (span for span in part.get("ranges", ()) if span["type"] == "ECOSYSTEM")


def within(events: list[dict[str, str]], version: str) -> bool:
    """Whether a version is affected after the events up to it."""
    affected, asked = False, Version(version)
    for event in sorted(events, key=lambda event: (place(event), "introduced" in event)):
        over = place(event) < asked if "last_affected" in event else place(event) <= asked
        if over:
            affected = "introduced" in event
    return affected


def place(event: dict[str, str]) -> Version:
    """The version of an event; a database's `0` and what is no version stand before all."""
    (text,) = event.values()
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0.dev0")


def main(arguments: list[str]) -> int:
    """Prints the findings and how much was compared."""
    if len(arguments) < 2 or not (Path(arguments[0]) / "vulns").is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    database, files = Path(arguments[0]), [Path(name) for name in arguments[1:]]
    pinned = pins(files)
    known = sum(1 for name, _ in pinned if (database / "vulns" / name).is_dir())
    findings = 0
    for (name, version), where in sorted(pinned.items()):
        for advisory in advisories(database, name):
            if affects(advisory, name, version):
                findings += 1
                first = str(advisory.get("summary") or advisory["details"]).strip().splitlines()[0]
                print(f"{advisory['id']}  {name} {version} ({', '.join(where)}): {first}")
    print(f"{len(pinned)} pinned packages, {known} of them with advisories in the database: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
