"""Rules of plain words for names and docstrings, and the findings that break them.

Run as a program, it prints every finding: `python tests/support/plain_words.py [PACKAGE]…`.
"""

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip())
MOST_SENTENCE_WORDS = 25
MOST_SCOPE_LINES = 10
# Findings that stay, each with its reason: `path:name` of a constant, a variable or a type.
KEPT: dict[str, str] = {
    "python/loadgo/cli/meter.py:every": "a public option",
    "python/loadgo/cli/profile.py:of": "a public option",
    "python/loadgo/profiling/profile.py:of": "a public parameter",
    "python/loadgo/metering/meter.py:every": "a public parameter",
}

RULES = {
    "single-word constant": "a public constant's name has a noun and says what it limits: FEWEST_USERS, not FEWEST",
    "constant without a unit": "a number's name ends in its unit, or in the plural of what it counts",
    "generic variable": f"a name that lives longer than {MOST_SCOPE_LINES} lines is a noun that says what it holds",
    "opening word": "a docstring begins with its subject, a verb or a noun phrase, not with a pronoun, Of, So or What",
    "long sentence": f"a docstring's sentence has at most {MOST_SENTENCE_WORDS} words",
    "repeated type": "a type's name is unique in its crate or package",
}


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


# Names that could hold anything.
GENERIC = words(
    """told found one made whole rest of asked said there who what thing things data value item obj result results res
    info tmp each every again mine own given taken kept held drawn known seen it them both"""
)
# First words that stand for something which is not named, or that turn the sentence round.
OPENINGS = re.compile(
    r"(?:(?:it|its|it's|he|his|they|their|them|that|who|whom|whose|whoever|what|whatever|which|so|such|of)\b"
    r"|(?:one|ones|those|these)(?:[.,:;]|\s+(?:of|that|which|who|whose|for|to|with|after|more|fewer|is|are|has|have)\b))",
    re.IGNORECASE,
)
# Words of a constant's name that say neither what it limits nor in which unit.
VAGUE = words(
    """A AN AND APART AT BELOW BEYOND ENOUGH EVERY FAR FEW FEWEST FIRST FOR FROM FULL HALF IN INTO LARGEST LAST LEAST
    LESS LONGEST MANY MAX MORE MOST MUCH NEAR OF ON ONCE OVER SHORTEST SMALLEST TO TOO UP USUAL WIDEST WITHIN"""
)
UNITS = words(
    """NS US MS S MIN HOUR HZ PERCENT SHARE RATIO FACTOR PART BYTE BIT WORD PAGE PX CHARS EXPONENT POWER PRICE
    PROBABILITY CONFIDENCE TOLERANCE QUANTILE INDEX ID SEED VERSION FORMAT STATUS PORT PRIORITY MASK SHIFT SLOT KEY
    FLAG TOKEN ACCOUNT COUNT CHILDREN DIVISOR WEIGHT"""
)
NO_PLURALS = words("THIS LESS ALWAYS PROCESS CLASS ACCESS ADDRESS STATUS")
RUST_NUMBERS = re.compile(r"(?:[ui](?:8|16|32|64|128|size)|f(?:32|64))$")


@dataclass(frozen=True)
class Finding:
    """A place that breaks a rule."""

    rule: str
    path: Path
    line: int
    text: str

    @property
    def package(self) -> str:
        """The crate, the Python package or the folder that the place belongs to."""
        parts = self.path.parts
        if parts[:2] == ("python", "loadgo"):
            return "loadgo" if len(parts) == 3 else f"loadgo/{parts[2]}"
        return "/".join(parts[:2]) if parts[0] == "crates" else parts[0]


@dataclass(frozen=True)
class Constant:
    """A constant's name with its line; `number` when its type or value is a number without a unit of its own."""

    name: str
    line: int
    number: bool


def committed(suffix: str) -> list[Path]:
    """The files with this suffix that git knows and that exist, relative to the root."""
    names = subprocess.check_output(["git", "ls-files", "-z", f"*{suffix}"], cwd=ROOT, text=True).split("\0")
    return [Path(name) for name in names if name and (ROOT / name).is_file()]


def is_product(path: Path) -> bool:
    """Whether a file belongs to the package or a crate, not to tests, benches or examples."""
    return path.parts[:2] == ("python", "loadgo") or (path.parts[0] == "crates" and "src" in path.parts)


@cache
def findings() -> tuple[Finding, ...]:
    """Every finding in the repository, by file and line."""
    broken: list[Finding] = []
    types: dict[str, list[tuple[str, Path, int]]] = defaultdict(list)
    for path in [*committed(".py"), *committed(".rs")]:
        text = (ROOT / path).read_text(encoding="utf-8")
        language = python_findings if path.suffix == ".py" else rust_findings
        broken += language(path, text)
        if is_product(path):
            named = python_types(text) if path.suffix == ".py" else rust_types(text)
            for name, line in named:
                types[name].append((Finding("", path, line, "").package, path, line))
    broken += repeated_types(types)
    return tuple(sorted(broken, key=lambda finding: (finding.path, finding.line, finding.rule)))


def repeated_types(types: dict[str, list[tuple[str, Path, int]]]) -> Iterator[Finding]:
    """A finding for each type whose name another type of its package bears."""
    for name, places in types.items():
        packages = Counter(package for package, _, _ in places)
        for package, path, line in places:
            if packages[package] > 1 and f"{path}:{name}" not in KEPT:
                yield Finding("repeated type", path, line, f"{name}, {packages[package]} in {package}")


def constant_findings(path: Path, constants: Iterator[Constant]) -> Iterator[Finding]:
    """Yields the constants of a file whose names lack a noun or a unit."""
    for constant in constants:
        if f"{path}:{constant.name}" in KEPT:
            continue
        parts = [part for part in constant.name.split("_") if part]
        if len(parts) == 1 and not constant.name.startswith("_"):
            yield Finding("single-word constant", path, constant.line, constant.name)
        elif constant.number and not says_unit(parts):
            yield Finding("constant without a unit", path, constant.line, constant.name)


def says_unit(parts: list[str]) -> bool:
    """Whether a number's name has a noun, and a unit or the plural of what is counted."""
    nouns = set(parts) - VAGUE - words("NS US MS S MIN HZ")
    plurals = {noun for noun in nouns if len(noun) > 3 and noun.endswith("S")} - NO_PLURALS
    return bool(nouns) and any(part in UNITS or part in plurals or part.isdigit() for part in parts)


def docstring_findings(path: Path, line: int, text: str) -> Iterator[Finding]:
    """Yields the defects of a docstring that begins in `line`: its first word, and sentences that are too long."""
    if OPENINGS.match(text.lstrip()):
        yield Finding("opening word", path, line, " ".join(text.split()[:8]))
    for sentence in sentences(text):
        count = sum(1 for word in sentence.split() if re.search(r"\w", word))
        if count > MOST_SENTENCE_WORDS:
            yield Finding("long sentence", path, line, f"{count} words: {' '.join(sentence.split()[:8])} …")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a docstring, a code span counted as one word; tables, code and headings are none."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text):
        lines = [line for line in paragraph.splitlines() if not re.match(r"\s*[|#>]|\s{4,}|\s*```", line)]
        prose = re.sub(r"`[^`]*`", "Code", " ".join(lines))
        yield from re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(\d])", prose)


FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.Module | ast.ClassDef | FUNCTIONS


@cache
def definitions(text: str) -> list[Definition]:
    """The module, the classes and the functions of a Python file, the module first; expressions are not entered."""
    reached: list[Definition] = []
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Definition):
            reached.append(node)
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, ())
            waiting += reversed(inner if isinstance(inner, list) else ())
    return reached


def python_findings(path: Path, text: str) -> Iterator[Finding]:
    """Yields the findings of a Python file."""
    nodes = definitions(text)
    if is_product(path):
        yield from constant_findings(path, python_constants(nodes[0]))
    for line, docstring in python_docstrings(nodes):
        yield from docstring_findings(path, line, docstring)
    for node in nodes:
        if isinstance(node, FUNCTIONS) and (node.end_lineno or 0) - node.lineno >= MOST_SCOPE_LINES:
            yield from python_variables(path, node)


def python_constants(tree: Definition) -> Iterator[Constant]:
    """The constants of a module, those that are assigned together one by one."""
    for node in tree.body:
        pairs = [assigned(node)]
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(node.value, ast.Tuple)
        ):
            names = [target.id for target in node.targets[0].elts if isinstance(target, ast.Name)]
            pairs = list(zip(names, node.value.elts, strict=False))
        for name, value in pairs:
            if name.lstrip("_").isupper() and value is not None:
                yield Constant(name, node.lineno, is_number(value))


def assigned(node: ast.stmt) -> tuple[str, ast.expr | None]:
    """The single name that a statement assigns to, with its value; empty for any other statement."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return "", None


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a number in digits, or arithmetic on such."""
    if isinstance(node, ast.BinOp):
        return is_number(node.left) or is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def python_docstrings(nodes: list[Definition]) -> Iterator[tuple[int, str]]:
    """The line and the text of each docstring: of modules, classes, functions, and below attributes."""
    for node in nodes:
        if text := ast.get_docstring(node):
            yield node.body[0].lineno, text
        if isinstance(node, ast.Module | ast.ClassDef):
            for before, after in zip(node.body, node.body[1:], strict=False):
                below = after.value if isinstance(after, ast.Expr) else None
                if assigned(before)[0] and isinstance(below, ast.Constant) and isinstance(below.value, str):
                    yield after.lineno, below.value


def python_types(text: str) -> Iterator[tuple[str, int]]:
    """The classes and type aliases of a Python file, with their lines."""
    nodes = definitions(text)
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield node.name, node.lineno
    for statement in nodes[0].body:
        name, value = assigned(statement)
        if re.match(r"_?[A-Z][a-z]", name) and isinstance(value, ast.Subscript | ast.BinOp | ast.Name | ast.Attribute):
            yield name, statement.lineno


def python_variables(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
    """Yields the generic names of a function that live too long; inner functions and comprehensions have own scopes."""
    bound: dict[str, int] = {}
    last: dict[str, int] = {}

    def visit(node: ast.AST, inner: frozenset[str]) -> None:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and node is not function:
            inner |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets = [name for part in node.generators for name in ast.walk(part.target)]
            inner |= {name.id for name in targets if isinstance(name, ast.Name)}
        if isinstance(node, ast.arg | ast.Name):
            name = node.arg if isinstance(node, ast.arg) else node.id
            if name in GENERIC and name not in inner:
                if isinstance(node, ast.arg) or isinstance(node.ctx, ast.Store):
                    bound[name] = min(bound.get(name, node.lineno), node.lineno)
                last[name] = max(last.get(name, 0), node.lineno)
        for child in ast.iter_child_nodes(node):
            visit(child, inner)

    visit(function, frozenset())
    for name, line in bound.items():
        if last[name] - line >= MOST_SCOPE_LINES and f"{path}:{name}" not in KEPT:
            yield Finding("generic variable", path, line, f"{name}, {last[name] - line + 1} lines in {function.name}")


def rust_findings(path: Path, text: str) -> Iterator[Finding]:
    """Yields the findings of a Rust file."""
    lines = text.splitlines()
    if is_product(path):
        yield from constant_findings(path, rust_constants(lines))
    for line, docstring in rust_docstrings(lines):
        yield from docstring_findings(path, line, docstring)
    yield from rust_variables(path, lines)


def rust_constants(lines: list[str]) -> Iterator[Constant]:
    """The constants outside of modules and `impl`s.

    A type's largest value is a mark without a unit. A number from a header that a comment names has the kernel's name.
    """
    from_header = False
    for number, line in enumerate(lines, start=1):
        declared = re.match(r"(pub(?:\([a-z ]+\))? )?(?:const|static) ([A-Z]\w*): ([^=]+) = (.*)", line)
        if not declared:
            from_header = line.startswith("//") and ".h" in line
            continue
        from_header |= ".h" in line.partition("//")[2]
        name = declared[2] if declared[1] else f"_{declared[2]}"
        if not from_header:
            is_mark = re.search(r"::MAX( - \d+)?;", declared[4])
            yield Constant(name, number, bool(RUST_NUMBERS.match(declared[3].strip())) and not is_mark)


def rust_docstrings(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The line and the text of each run of `///` or `//!` comments."""
    block: list[str] = []
    for number, line in enumerate([*lines, ""], start=1):
        comment = re.match(r"\s*//[/!] ?(.*)", line)
        if comment:
            block.append(comment[1])
        elif block:
            yield number - len(block), "\n".join(block)
            block = []


def rust_types(text: str) -> Iterator[tuple[str, int]]:
    """The types of a Rust file, without the associated types of traits, with their lines."""
    for number, line in enumerate(text.splitlines(), start=1):
        declared = re.match(r"(\s*)(?:pub(?:\([a-z ]+\))? )?(struct|enum|trait|union|type) ([A-Z]\w*)", line)
        if declared and not (declared[2] == "type" and declared[1]):
            yield declared[3], number


def rust_variables(path: Path, lines: list[str]) -> Iterator[Finding]:
    """Yields the generic names in formatted Rust that live too long: to their last use before the indentation ends."""
    for number, line in enumerate(lines):
        code = line.partition("//")[0]
        names = re.findall(r"\b(?:let (?:mut )?|for )(\w+)", code)
        names += re.findall(r"[(,] ?(?:mut )?(\w+): ", code) if " fn " in f" {code}" else []
        for name in GENERIC.intersection(names):
            length = rust_scope(lines, number, name)
            if length > MOST_SCOPE_LINES and f"{path}:{name}" not in KEPT:
                yield Finding("generic variable", path, number + 1, f"{name}, {length} lines")


def rust_scope(lines: list[str], begin: int, name: str) -> int:
    """How many lines a name lives that is bound in the line `begin`."""
    indent = len(lines[begin]) - len(lines[begin].lstrip())
    opens = lines[begin].rstrip().endswith("{") and not lines[begin].lstrip().startswith("let")
    last = begin
    for number in range(begin + 1, len(lines)):
        text = lines[number]
        depth = len(text) - len(text.lstrip())
        if text.strip() and (depth < indent or (opens and depth == indent)):
            break
        if re.search(rf"\b{name}\b", text.partition("//")[0]):
            last = number
    return last - begin + 1


def main(packages: list[str]) -> None:
    """Prints the findings of the packages, or of all."""
    for finding in findings():
        if not packages or finding.package in packages:
            print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
