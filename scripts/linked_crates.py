"""The crates that are linked into the binaries of a wheel, by cargo's own account."""

import json
import subprocess
from typing import Any

# The crates of what a wheel holds: the extension module and the three programs.
ROOTS = ("loadgo-python", "loadgo-calculator", "loadgo-rjs", "loadgo-agent")


def linked_packages(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """The packages that are linked, without those that only ran in the compiler, in the order of their ids."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [identity for identity, package in packages.items() if package["name"] in ROOTS]
    seen = set(waiting)
    while waiting:
        node = nodes[waiting.pop()]
        normal = {part["pkg"] for part in node["deps"] if any(kind["kind"] is None for kind in part["dep_kinds"])}
        linked = {identity for identity in normal - seen if not runs_in_compiler(packages[identity])}
        waiting += linked
        seen |= linked
    return sorted((packages[identity] for identity in seen), key=lambda package: package["id"])


def runs_in_compiler(package: dict[str, Any]) -> bool:
    """Whether a package is a procedural macro, of which nothing is linked."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def cargo_metadata(target: str | None = None) -> dict[str, Any]:
    """Cargo's own account of the workspace in the working directory, for a target of Rust or for this host."""
    target = target or output("rustc", "-vV").partition("host: ")[2].split()[0]
    told: dict[str, Any] = json.loads(
        output("cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", target)
    )
    return told


def output(*command: str) -> str:
    """The standard output of a command."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
