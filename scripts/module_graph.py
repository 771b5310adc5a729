#!/usr/bin/env python3
"""Draws which Rust module uses which, and names each circle: of files, of crates, and of rooms (a folder is one).

`scripts/module_graph.py` exits with 1 when there is a circle; `scripts/module_graph.py CRATE` lists a crate's arrows.
Tests, examples and `mod child;` draw no arrow. A `pub use` draws none either: it gives a name, and whoever uses that
name gets an arrow to the file that defines the item.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CRATES = Path(__file__).resolve().parent.parent / "crates"

Module = tuple[str, ...]
"""The crate's name as Rust code has it, then the modules on the way."""

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STRING = re.compile(r'b?r(#+)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\\\'])\'', re.DOTALL)
PATH = re.compile(r"(?<![\w:.])(?:::)?([A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)+)")
MOD = re.compile(r"(?<!\w)mod\s+\w+\s*;")
USE = re.compile(r"(?<!\w)((?:pub(?:\([a-z: ]+\))?\s+)?)use\s+([^;]+);")


@dataclass
class File:
    """One module's code without comments, strings and tests, and the names that it imports."""

    code: str
    names: dict[str, Module] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)


def blank(code: str) -> str:
    """`code` without comments and with empty strings."""
    return COMMENT.sub(" ", STRING.sub('""', re.sub(r'//(?:[^\n"]|"[^"\n]*")*\n', "\n", code)))


def without_tests(code: str) -> str:
    """`code` without the items below `#[cfg(test)]`."""
    while begin := re.search(r"#\[cfg\((?:all\()?test\b[^\]]*\]", code):
        brace, semicolon = code.find("{", begin.end()), code.find(";", begin.end())
        end = semicolon + 1
        if brace >= 0 and (semicolon < 0 or brace < semicolon):
            end, depth = brace + 1, 1
            while depth:
                depth += {"{": 1, "}": -1}.get(code[end], 0)
                end += 1
        code = code[: begin.start()] + code[end:]
    return code


def leaves(tree: str, before: Module = ()) -> Iterator[tuple[str, Module]]:
    """Each name that a `use` brings, with its path: `a::{b, c as d}` gives (b, a::b) and (d, a::c)."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if brace:
        path = (*before, *(part.strip() for part in head.split("::") if part.strip()))
        depth, start, inner = 0, 0, rest.rstrip()[:-1]
        for at, letter in enumerate(inner + ","):
            depth += {"{": 1, "}": -1}.get(letter, 0)
            if letter == "," and depth == 0:
                if inner[start:at].strip():
                    yield from leaves(inner[start:at], path)
                start = at + 1
        return
    path_text, _, alias = tree.partition(" as ")
    path = (*before, *(part.strip() for part in path_text.split("::") if part.strip()))
    if path[-1] == "self":
        path = path[:-1]
    yield alias.strip() or path[-1], path


def read_crates(crates: Path = CRATES) -> dict[Module, File]:
    """Every module of every library in the folder `crates`, by its path."""
    files = {}
    for manifest in sorted(crates.glob("*/Cargo.toml")):
        text = manifest.read_text()
        named = re.search(r'\[lib\]\s*name = "(\w+)"', text) or re.search(r'name = "([\w-]+)"', text)
        assert named, manifest
        crate, source = named[1].replace("-", "_"), manifest.parent / "src"
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            if parts == ("main",) or parts[-1] == "tests":
                continue
            module = (crate, *(parts[:-1] if parts[-1] in ("mod", "lib") else parts))
            files[module] = File(without_tests(blank(path.read_text())))
    return files


def absolute(path: Module, module: Module, files: dict[Module, File]) -> Module | None:
    """The path from its crate's root, or nothing when it leads out of the project."""
    first, rest = path[0], path[1:]
    if first == "crate":
        return (module[0], *rest)
    if first == "self":
        return (*module, *rest)
    if first == "super":
        while path and path[0] == "super":
            path, module = path[1:], module[:-1]
        return (*module, *path)
    if (*module, first) in files:
        return (*module, *path)
    return path if (first,) in files else None


def target(path: Module, files: dict[Module, File], depth: int = 0) -> Module:
    """The module that defines what `path` names, through re-exports."""
    for length in range(len(path), 0, -1):
        module = path[:length]
        if module not in files:
            continue
        rest = path[length:]
        file = files[module]
        if rest and rest[0] in file.exported and depth < 9:
            return target((*file.names[rest[0]], *rest[1:]), files, depth + 1)
        return module
    return path[:1]


def read_names(files: dict[Module, File]) -> None:
    """Notes what each file imports, and takes its `use` lines out of the code."""
    for module, file in files.items():
        for visibility, tree in USE.findall(file.code):
            for name, path in leaves(tree):
                if found := absolute(path, module, files):
                    file.names[name] = found
                    if visibility:
                        file.exported.add(name)


def arrows(files: dict[Module, File]) -> dict[Module, set[Module]]:
    """Of each module, the modules whose items it uses."""
    read_names(files)
    drawn: dict[Module, set[Module]] = {module: set() for module in files}
    for module, file in files.items():
        rest = MOD.sub(" ", USE.sub(" ", file.code))
        paths = [file.names[name] for name in file.names if name not in file.exported]
        paths += [file.names[name] for name in file.exported if re.search(rf"\b{name}\b", rest)]
        for written in PATH.findall(rest):
            parts = tuple(part.strip() for part in written.split("::"))
            if parts[0] in file.names:
                paths.append((*file.names[parts[0]], *parts[1:]))
            elif found := absolute(parts, module, files):
                paths.append(found)
        drawn[module] = {target(path, files) for path in paths} - {module}
    return drawn


def circles(drawn: dict[Module, set[Module]]) -> list[list[Module]]:
    """The sets of nodes that reach each other (Tarjan 1972), each sorted."""
    index: dict[Module, int] = {}
    low: dict[Module, int] = {}
    stack: list[Module] = []
    found: list[list[Module]] = []

    def visit(node: Module) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(drawn.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    sys.setrecursionlimit(10_000)
    for node in sorted(drawn):
        if node not in index:
            visit(node)
    return found


def rooms(drawn: dict[Module, set[Module]]) -> Iterator[dict[Module, set[Module]]]:
    """For each crate and folder, the graph of its children, each with all that is below it."""
    parents = {module[:length] for module in drawn for length in range(len(module))}
    for parent in sorted(parents):
        depth = len(parent)
        graph: dict[Module, set[Module]] = {}
        for module, used in drawn.items():
            if module[:depth] == parent and len(module) > depth:
                room = module[: depth + 1]
                inside = {other[: depth + 1] for other in used if other[:depth] == parent and len(other) > depth}
                graph.setdefault(room, set()).update(inside - {room})
        yield graph


def name(module: Module) -> str:
    """As Rust writes it."""
    return "::".join(module)


def all_circles(crates: Path = CRATES) -> list[list[str]]:
    """Each circle of files, and each of rooms or crates, by the names of its modules."""
    drawn = arrows(read_crates(crates))
    found = circles(drawn) + [circle for graph in rooms(drawn) for circle in circles(graph)]
    return [[name(module) for module in circle] for circle in found]


def main(arguments: Iterable[str]) -> int:
    """Lists the arrows of the crates that are named, or the circles."""
    wanted = list(arguments)
    if wanted:
        for module, used in sorted(arrows(read_crates()).items()):
            if module[0].removeprefix("loadgo_") in wanted:
                print(f"{name(module)}: {', '.join(sorted(name(other) for other in used))}")
        return 0
    found = all_circles()
    print("\n".join(map(", ".join, found)) or "no circle")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
