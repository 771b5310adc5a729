"""The style as a test: what CONTRIBUTING.md asks of each file, checked on every file that git knows."""

import ast
import importlib.util
import re
import subprocess
from functools import cache
from pathlib import Path
from types import ModuleType

from support.places import PROJECT

LONGEST_FILE = 400
LONGEST_FUNCTION = 60

# A file or function over its bound needs a reason here.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}

# Names that say nothing about what is inside.
FORBIDDEN_STEMS = {"util", "utils", "helper", "helpers", "common", "manager", "base", "handler", "handlers", "misc"}

# Registry hosts, and paths of one machine; in parts, so that this file does not hold them.
HOSTS = ["pypi" + ".org", "pythonhosted" + ".org", "crates" + ".io", "npmjs" + ".org", "proxy.golang" + ".org"]
PATHS = ["/work/" + "main", "/work/" + "shared", "/home/" + "user/", "/opt/" + "wheels"]
# Functions that only the command line may call: they print or exit.
OUTPUT_CALLS = {"print", "sys.exit", "exit", "quit", "os._exit"}
# The packages that may call the Rust half, and two files besides, which read spans of time and laws with its grammar.
EXTENSION_PACKAGES = {"running", "records", "hosts", "metering", "observation", "profiling", "transfers"}
EXTENSION_FILES = {"notation/quantities.py", "notation/laws.py"}
# cargo itself names its source in the lock.
MAY_NAME_HOSTS = {"Cargo.lock"}


@cache
def committed(*suffixes: str) -> list[Path]:
    """The files that git knows, with one of these suffixes (all when none is given), that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    paths = [Path(name) for name in listed.split("\0") if name]
    return [path for path in paths if (not suffixes or path.suffix in suffixes) and (PROJECT / path).is_file()]


@cache
def text(path: Path) -> str:
    """The text of `path`, a path from the root of the repository."""
    return (PROJECT / path).read_text(encoding="utf-8", errors="replace")


@cache
def statements(path: Path) -> list[ast.AST]:
    """The statements of a Python file, with those inside them: nine of ten nodes are expressions, and not entered."""
    reached: list[ast.AST] = []
    waiting: list[ast.AST] = [ast.parse(text(path))]
    while waiting:
        node = waiting.pop()
        reached.append(node)
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, name, ())
            waiting += inner if isinstance(inner, list) else ()
    return reached


def sources() -> list[Path]:
    """Code in Rust, Python, C and shell."""
    return [*committed(".rs", ".py", ".pyi", ".c", ".h", ".sh"), *(p for p in committed() if p.parts[0] == "scripts")]


def first_sentence(path: Path) -> str:
    """The words that a source file opens with, without the comment's marks; empty when it opens with code."""
    lines = [line for line in text(path).splitlines() if line.strip() and not line.startswith("#!")]
    opening = lines[0] if lines else ""
    marks = {".rs": ("//!",), ".c": ("//", "/*"), ".h": ("/*",), ".py": ('"""',), ".pyi": ('"""',)}
    mark = next((mark for mark in marks.get(path.suffix, ("#",)) if opening.startswith(mark)), None)
    return opening.removeprefix(mark).strip(' "') if mark else ""


def test_each_source_file_opens_with_a_sentence_that_says_what_it_is() -> None:
    silent = [str(path) for path in sources() if len(first_sentence(path).split()) < 3]
    assert not silent, f"these open with something else: {silent}"


def test_files_are_short_or_say_why_not() -> None:
    long = {str(path): count for path in sources() if (count := text(path).count("\n")) > LONGEST_FILE}
    assert set(long) == set(LONG_FILES), f"over {LONGEST_FILE} lines: {long}; listed with a reason: {set(LONG_FILES)}"


def rust_functions(path: Path) -> list[tuple[str, int]]:
    """Name and length in lines of each function in formatted Rust. A function ends at a brace as far in as its `fn`."""
    found = []
    lines = text(path).splitlines()
    for number, line in enumerate(lines):
        begin = "fn " in line and re.match(
            r"( *)(?:pub(?:\([a-z ]+\))? )?(?:const )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)", line
        )
        if begin and not line.rstrip().endswith(("}", ";")):
            ends = (n for n in range(number + 1, len(lines)) if lines[n].startswith(begin[1] + "}"))
            found.append((begin[2], next(ends, number) - number + 1))
    return found


def python_functions(path: Path) -> list[tuple[str, int]]:
    """Name and length in lines of each function in Python, without its docstring."""
    found = []
    for node in statements(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            found.append((node.name, node.end_lineno - body[0].lineno + 1))
    return found


def test_functions_are_short_or_say_why_not() -> None:
    lengths = [(path, *function) for path in committed(".rs") for function in rust_functions(path)]
    lengths += [(path, *function) for path in committed(".py") for function in python_functions(path)]
    long = {f"{path}:{name}": count for path, name, count in lengths if count > LONGEST_FUNCTION}
    assert set(long) == set(LONG_FUNCTIONS), f"over {LONGEST_FUNCTION} lines: {long}; with a reason: {LONG_FUNCTIONS}"


def test_a_file_is_named_for_what_it_holds() -> None:
    vague = [str(path) for path in sources() if path.stem.removeprefix("test_") in FORBIDDEN_STEMS]
    assert not vague, vague


def test_only_the_command_line_prints_or_exits() -> None:
    """Calls of print, sys.exit, exit and quit in the package, outside `cli` and `__main__.py`.

    Stand-ins are programs of their own, which users run.
    """
    speaking = []
    for path in committed(".py"):
        if path.parts[:2] != ("python", "loadgo") or path.parts[2] in ("cli", "__main__.py"):
            continue
        if path.parts[2:4] == ("data", "stand_ins"):
            continue
        for node in ast.walk(statements(path)[0]):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in OUTPUT_CALLS:
                speaking.append(f"{path}:{node.lineno}")
    assert not speaking, speaking


def whole_package_imports(path: Path) -> list[str]:
    """The names that a file imports from `loadgo` itself, not from a package in it: `_loadgo`, or public calls."""
    froms = [node for node in statements(path) if isinstance(node, ast.ImportFrom) and node.module == "loadgo"]
    packages = {place.name for place in (PROJECT / "python/loadgo").iterdir() if place.is_dir()} | {"errors"}
    names = [alias.name for node in froms for alias in node.names if alias.name not in packages]
    plain = [alias.name for node in statements(path) if isinstance(node, ast.Import) for alias in node.names]
    return [*names, *(name for name in plain if name in ("loadgo", "loadgo._loadgo"))]


def test_few_packages_call_the_extension_module_and_only_the_command_line_the_public_functions() -> None:
    """import-linter cannot see this: the extension is no Python file, and public names are loaded late."""
    wrong = []
    for path in committed(".py"):
        if path.parts[:2] != ("python", "loadgo") or len(path.parts) < 4:
            continue
        package, file = path.parts[2], "/".join(path.parts[2:])
        for name in whole_package_imports(path):
            extension = name in ("_loadgo", "loadgo._loadgo")
            allowed = package in EXTENSION_PACKAGES or file in EXTENSION_FILES if extension else package == "cli"
            wrong += [] if allowed else [f"{file} imports {name}"]
    assert not wrong, wrong


def test_unsafe_is_in_the_sys_crate_alone() -> None:
    unsafe = re.compile(r"^\s*(?!//).*\bunsafe\s*(\{|fn|impl|extern|trait)", re.MULTILINE)
    outside = [str(path) for path in committed(".rs") if path.parts[1] != "sys" and unsafe.search(text(path))]
    assert not outside, outside


def test_a_test_program_of_many_files_has_all_of_them() -> None:
    """Cargo looks for no tests by itself where `autotests = false`: a file that `all.rs` does not name never runs."""
    programs = [path for path in committed(".rs") if path.name == "all.rs"]
    assert programs
    for program in programs:
        assert "autotests = false" in text(program.parent.parent / "Cargo.toml")
        parts = set(re.findall(r"^mod (\w+);", text(program), re.MULTILINE))
        files = {path.stem for path in committed(".rs") if path.parent == program.parent} - {"all"}
        assert files <= parts, f"{program} leaves out {sorted(files - parts)}"


def module_graph() -> ModuleType:
    """`scripts/module_graph.py`, imported."""
    spec = importlib.util.spec_from_file_location("module_graph", PROJECT / "scripts" / "module_graph.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_rust_crates_folders_and_files_have_no_dependency_cycle() -> None:
    cycles = module_graph().all_cycles()
    assert not cycles, cycles


def test_a_cycle_of_rust_files_and_one_of_folders_are_seen(tmp_path: Path) -> None:
    crate = tmp_path / "some"
    code = {
        "lib": "pub mod a;\nmod b;\npub mod c;\nmod d;\npub use c::Shown;",
        "a": "use crate::b::{self, Two};\npub struct One(Two);\nfn f() { b::g(); }",
        "b": "// use crate::c::Shown;\nuse super::a::One;\npub struct Two;\npub fn g() {}",
        "c": "pub mod inner;\npub struct Shown;\n#[cfg(test)]\nmod tests {\n    use crate::b::Two;\n}",
        "c/inner": "fn f() { crate::d::g() }",
        "d": "use crate::Shown;\npub fn g() {}",
    }
    for name, text in code.items():
        path = crate / "src" / f"{name}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (crate / "Cargo.toml").write_text('[package]\nname = "some"\n')
    cycles = module_graph().all_cycles(tmp_path)
    assert sorted(cycles) == [["some::a", "some::b"], ["some::a", "some::b"], ["some::c", "some::d"]]


def test_no_committed_text_names_a_registry_or_a_place_on_one_machine() -> None:
    for path in committed():
        content = text(path)
        hosts = [] if path.name in MAY_NAME_HOSTS else HOSTS
        named = [place for place in (*hosts, *PATHS) if place in content]
        assert not named, f"{path} names {named}"


def test_dependencies_are_pinned_with_hashes_and_without_addresses() -> None:
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-bench.txt", "requirements-dist.txt"):
        lines = [line for line in text(Path(name)).splitlines() if line.strip() and not line.lstrip().startswith("#")]
        addresses = [line for line in lines if "://" in line or line.startswith(("-i", "--index", "--extra", "--find"))]
        assert not addresses, f"{name}: {addresses}"
        pins = [line for line in lines if "==" in line]
        assert pins, name
        pairs = zip(lines, [*lines[1:], ""], strict=True)
        unhashed = [line for line, after in pairs if "==" in line and "--hash" not in after]
        assert not unhashed, f"{name}: {unhashed}"


def unexplained(manifest: Path) -> list[str]:
    """The dependencies of a Cargo.toml without a comment beside them or above their group."""
    bare = []
    section, explained = "", False
    for line in text(manifest).splitlines():
        if line.startswith("["):
            section = line
        elif line.startswith("#"):
            explained = True
        elif not line.strip():
            explained = False
        elif "dependencies" in section and " path =" not in line and "#" not in line and not explained:
            bare.append(f"{manifest}: {line}")
    return bare


def test_each_dependency_has_its_reason_beside_it() -> None:
    bare = [line for path in committed(".toml") if path.name == "Cargo.toml" for line in unexplained(path)]
    assert not bare, bare


def test_the_check_names_each_folder_of_tests() -> None:
    """A step of `scripts/check` collects the folders that it names, so a folder that no step names is never run."""
    paths = [path for path in committed(".py") if path.parts[0] == "tests" and path.name.startswith("test_")]
    named = set(re.findall(r"\btests/(\w+)", text(Path("scripts/check"))))
    assert {path.parts[1] for path in paths} == named
