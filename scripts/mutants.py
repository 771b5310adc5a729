"""Mutation testing of Python: changes in the code of functions, one at a time, and the tests that must see each.

`python scripts/mutants.py python/loadgo/costs/cost.py --tests tests/unit/costs --sample 50 --seed 1` draws 50 changes.
It runs the tests with each in a process of its own, and prints the changes that no test saw. No file is changed.

It is our own because the tests compute with Polars, whose threads do not survive a fork of a process that has
used it. Here the parent has only imported the libraries, so each change costs its tests and few imports.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.machinery
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

PROJECT = Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "polars", "pyarrow", "scipy.stats", "scipy.optimize", "jinja2", "click", "rich")
QUICK = "not statistical and not processes and not long"
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "sum": "max"}


@dataclass(frozen=True)
class Mutant:
    """One change in one file."""

    path: Path
    line: int
    function: str
    change: str
    tree: ast.Module


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Other nodes in place of `node`, each with a description."""
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in COMPARISONS:
            yield "comparison", ast.Compare(node.left, [COMPARISONS[type(operator)]()], node.comparators)
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC and not isinstance(node.left, ast.JoinedStr):
            yield "arithmetic", ast.BinOp(node.left, ARITHMETIC[type(operator)](), node.right)
        case ast.BoolOp(op=operator):
            yield "and/or", ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield "sign", node.operand
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", ast.Constant(value + 1)
        case ast.IfExp():
            yield "condition", ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.If():
            yield "condition", ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            yield "call", ast.Call(ast.Name(CALLS[name], ast.Load()), node.args, node.keywords)


def fields(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Each node below `node` with its parent, field and index. Annotations are left out."""
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield node, field, index, child
                yield from fields(child)


def mutants_of(path: Path) -> Iterator[Mutant]:
    """All changes in the functions of the file at `path`."""
    original = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(original) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        for parent, field, index, node in fields(function):
            if isinstance(node, ast.FunctionDef):
                continue
            for name, other in changes(node):
                before = getattr(parent, field)
                ast.copy_location(other, node)
                if index is None:
                    setattr(parent, field, other)
                else:
                    before[index] = other
                words = f"{name}: {shown(node)}  ->  {shown(other)}"
                tree = ast.fix_missing_locations(copy.deepcopy(original))
                if index is None:
                    setattr(parent, field, before)
                else:
                    before[index] = node
                yield Mutant(path, getattr(node, "lineno", 0), function.name, words, tree)


def shown(node: ast.AST) -> str:
    """The first line of a node's source."""
    return ast.unparse(node).splitlines()[0][:100]


class Replacement(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Loads one module from a changed tree."""

    def __init__(self, module: str, mutant: Mutant) -> None:
        """For `module`, the code of `mutant`."""
        self.module = module
        self.mutant = mutant

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The specification of the module, if it is this one."""
        del path, target
        if fullname != self.module:
            return None
        found = importlib.machinery.ModuleSpec(fullname, self, origin=str(self.mutant.path))
        found.has_location = True
        return found

    def get_source(self, fullname: str) -> str:
        """The text of the file, unchanged."""
        del fullname
        return self.mutant.path.read_text(encoding="utf-8")

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed tree."""
        del fullname
        code: CodeType = compile(self.mutant.tree, str(self.mutant.path), "exec")
        return code


def module_name(path: Path) -> str:
    """The name of the module in the file at `path`."""
    return ".".join(path.resolve().relative_to(PROJECT / "python").with_suffix("").parts)


def tested(mutant: Mutant | None, tests: Sequence[str], markers: str, limit_s: float) -> str:
    """How the tests end with this change: `killed`, `survived` or `late`."""
    child = os.fork()
    if child == 0:
        status = 70
        try:
            os.setsid()
            silence = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2) if mutant is not None else (0,):
                os.dup2(silence, descriptor)
            if mutant is not None:
                sys.meta_path.insert(0, Replacement(module_name(mutant.path), mutant))
            pytest = importlib.import_module("pytest")
            status = int(
                pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", markers, *tests])
            )
        finally:
            sys.stdout.flush()
            os._exit(status)
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "late"


def main() -> int:
    """Draws changes and prints those that no test saw; status 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", required=True, help="the tests that must see a change")
    parser.add_argument("--sample", type=int, default=0, help="number of changes that are mutants; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markers", default=QUICK)
    parser.add_argument("--functions", default="", help="names of functions, with commas: changes in these alone")
    arguments = parser.parse_args()
    for library in LIBRARIES:
        importlib.import_module(library)
    wanted = set(filter(None, arguments.functions.split(",")))
    mutants = [
        mutant for path in arguments.paths for mutant in mutants_of(path) if not wanted or mutant.function in wanted
    ]
    number = len(mutants)
    if arguments.sample and arguments.sample < number:
        mutants = random.Random(arguments.seed).sample(mutants, arguments.sample)
    began = time.monotonic()
    if tested(None, arguments.tests, arguments.markers, 3600) != "survived":
        print("the tests fail without a change")
        return 2
    limit_s = 20 + 5 * (time.monotonic() - began)
    print(f"{len(mutants)} of {number} changes; the tests take {time.monotonic() - began:.1f} s", flush=True)
    counts = {"killed": 0, "survived": 0, "late": 0}
    for mutant in mutants:
        verdict = tested(mutant, arguments.tests, arguments.markers, limit_s)
        counts[verdict] += 1
        if verdict != "killed":
            print(f"{verdict}  {mutant.path}:{mutant.line} {mutant.function}  {mutant.change}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
