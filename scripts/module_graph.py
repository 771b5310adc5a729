#!/usr/bin/env python3
"""Finds dependency cycles between Rust modules: of files, of folders and of crates.

`scripts/module_graph.py` exits with 1 if there is a cycle. `scripts/module_graph.py CRATE` lists a crate's uses.
Tests, examples and `mod child;` do not count as uses, nor does a `pub use`, which only gives a name. A use of that name
counts as a use of the file that defines the item.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CRATES = Path(__file__).resolve().parent.parent / "crates"

Module = tuple[str, ...]
"""A module's path: the crate's name as in Rust code, then the modules."""

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
    """The names that a `use` imports, with their paths: `a::{b, c as d}` gives (b, a::b) and (d, a::c)."""
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
    """The path from its crate's root, or None for a path outside of the project."""
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
    """Records the imports of each file."""
    for module, file in files.items():
        for visibility, tree in USE.findall(file.code):
            for name, path in leaves(tree):
                if absolute_path := absolute(path, module, files):
                    file.names[name] = absolute_path
                    if visibility:
                        file.exported.add(name)


def module_uses(files: dict[Module, File]) -> dict[Module, set[Module]]:
    """The modules whose items a module uses, for each module."""
    read_names(files)
    uses: dict[Module, set[Module]] = {module: set() for module in files}
    for module, file in files.items():
        rest = MOD.sub(" ", USE.sub(" ", file.code))
        paths = [file.names[name] for name in file.names if name not in file.exported]
        paths += [file.names[name] for name in file.exported if re.search(rf"\b{name}\b", rest)]
        for written in PATH.findall(rest):
            parts = tuple(part.strip() for part in written.split("::"))
            if parts[0] in file.names:
                paths.append((*file.names[parts[0]], *parts[1:]))
            elif absolute_path := absolute(parts, module, files):
                paths.append(absolute_path)
        uses[module] = {target(path, files) for path in paths} - {module}
    return uses


def cycles(uses: dict[Module, set[Module]]) -> list[list[Module]]:
    """The sets of nodes that reach each other (Tarjan 1972), each sorted."""
    index: dict[Module, int] = {}
    low: dict[Module, int] = {}
    stack: list[Module] = []
    cycle_list: list[list[Module]] = []

    def visit(node: Module) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(uses.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            position = stack.index(node)
            if len(stack) - position > 1:
                cycle_list.append(sorted(stack[position:]))
            del stack[position:]

    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        for node in sorted(uses):
            if node not in index:
                visit(node)
    finally:
        sys.setrecursionlimit(depth)  # a test of values nested too deeply may come next in this process
    return cycle_list


def folder_graphs(uses: dict[Module, set[Module]]) -> Iterator[dict[Module, set[Module]]]:
    """For each crate and folder, the graph of its children, each with all that is below it."""
    parents = {module[:length] for module in uses for length in range(len(module))}
    for parent in sorted(parents):
        depth = len(parent)
        graph: dict[Module, set[Module]] = {}
        for module, used in uses.items():
            if module[:depth] == parent and len(module) > depth:
                child = module[: depth + 1]
                inside = {other[: depth + 1] for other in used if other[:depth] == parent and len(other) > depth}
                graph.setdefault(child, set()).update(inside - {child})
        yield graph


def name(module: Module) -> str:
    """The module's path as Rust writes it."""
    return "::".join(module)


def all_cycles(crates: Path = CRATES) -> list[list[str]]:
    """Each cycle of files, of folders and of crates, by the names of its modules."""
    uses = module_uses(read_crates(crates))
    cycle_list = cycles(uses) + [cycle for graph in folder_graphs(uses) for cycle in cycles(graph)]
    return [[name(module) for module in cycle] for cycle in cycle_list]


def main(arguments: Iterable[str]) -> int:
    """Lists the uses of the given crates, or the cycles."""
    crates = list(arguments)
    if crates:
        for module, used in sorted(module_uses(read_crates()).items()):
            if module[0].removeprefix("loadgo_") in crates:
                print(f"{name(module)}: {', '.join(sorted(name(other) for other in used))}")
        return 0
    cycle_list = all_cycles()
    print("\n".join(map(", ".join, cycle_list)) or "no cycle")
    return 1 if cycle_list else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
