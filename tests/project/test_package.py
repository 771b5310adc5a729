"""The shipped package: public names, the extension module and its stub, versions, and the files of a wheel."""

import ast
import json
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import TypeGuard

import loadgo
import pytest
from loadgo import _loadgo
from loadgo.cli.completions import completion_lines
from loadgo.cli.manual_pages import manual_pages
from loadgo.cli.shared_files import shared_files, shared_files_of_agent
from loadgo.documents.drawing_code import DRAWING_CODE_FILE
from support.places import PROJECT

PUBLIC_NAMES = [
    "Ability",
    "AbilityList",
    "Capacity",
    "Comparison",
    "Costs",
    "Driver",
    "EachLimits",
    "Experiment",
    "Fairness",
    "Fit",
    "History",
    "KnobCapacity",
    "Laboratory",
    "Likeness",
    "Limits",
    "Load",
    "Machine",
    "MachineList",
    "Metered",
    "Metering",
    "Observation",
    "Profile",
    "Ready",
    "Recorded",
    "RecordedRun",
    "Reproduction",
    "Run",
    "RunList",
    "Script",
    "ScriptList",
    "Simulation",
    "Speedup",
    "Sweep",
    "Tables",
    "Transferred",
    "Variant",
    "Verification",
    "Watching",
    "ab",
    "capacity",
    "capacity_of_limit",
    "compare",
    "cost",
    "cost_against",
    "doctor",
    "fit",
    "history",
    "lab",
    "likeness",
    "machines",
    "merge",
    "meter",
    "observe",
    "profile",
    "query",
    "ready",
    "record",
    "report",
    "reproduce",
    "run",
    "runs",
    "schema",
    "scripts",
    "simulate",
    "speedup",
    "speedup_of",
    "sweep",
    "tables",
    "transfer",
    "verify",
    "watch",
]


def test_the_public_names_are_these_and_each_is_there() -> None:
    assert sorted(loadgo.__all__) == PUBLIC_NAMES
    for name in loadgo.__all__:
        assert callable(getattr(loadgo, name)), name


def test_a_function_keeps_its_name_whatever_file_was_imported_before() -> None:
    program = (
        "import loadgo.records.tables, loadgo.running.run, loadgo.cli.app, loadgo; "
        "print(callable(loadgo.tables), callable(loadgo.run))"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "True True\n"


def test_no_package_has_a_public_functions_name() -> None:
    packages = {place.name for place in (PROJECT / "python/loadgo").iterdir()}
    assert not packages & {*loadgo.__all__}


def test_versions_agree() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    workspace = tomllib.loads((PROJECT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert loadgo.__version__ == project == workspace


def is_public(target: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(target, ast.Name) and not target.id.startswith("_")


def parameters(node: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]


def test_the_stub_says_what_the_binary_holds() -> None:
    stub = ast.parse((PROJECT / "python/loadgo/_loadgo.pyi").read_text())
    functions = {node.name: parameters(node) for node in stub.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name for node in stub.body if isinstance(node, ast.ClassDef)}
    constants = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign) and is_public(node.target)}
    held = {name for name in dir(_loadgo) if not name.startswith("_")}
    assert held == functions.keys() | classes | constants
    for name, names in functions.items():
        text = getattr(_loadgo, name).__text_signature__.strip("()")
        assert [part.strip().split("=")[0] for part in text.split(",") if part.strip() not in ("", "/")] == names, name
    for node in (node for node in stub.body if isinstance(node, ast.ClassDef)):
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)} - {"__new__"}
        assert methods == {name for name in dir(getattr(_loadgo, node.name)) if not name.startswith("_")}, node.name


@pytest.mark.processes
def test_a_wheel_holds_the_extension_the_programs_the_drawing_code_and_the_bundled_files(tmp_path: Path) -> None:
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(tmp_path),
        ".",
    ]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert "-cp311-abi3-" in wheel.name
    wheel_files = zipfile.ZipFile(wheel).namelist()
    package = PROJECT / "python/loadgo"
    templates = [f"{name}/templates" for name in ("documents", "profiling", "reporting", "reproduction")]
    folders = ("data/*", *templates, "watching/page")
    wanted = [*package.rglob("*.py"), *package.glob("*.pyi"), package / "py.typed"]
    wanted += [file for folder in folders for file in package.glob(f"{folder}/*") if file.is_file()]
    missing = [str(file) for file in wanted if str(file.relative_to(PROJECT / "python")) not in wheel_files]
    assert not missing
    assert "loadgo/_loadgo.abi3.so" in wheel_files
    assert f"loadgo/documents/{DRAWING_CODE_FILE}" in wheel_files
    assert any(name.endswith(".dist-info/licenses/LICENSES-RUST.txt") for name in wheel_files)
    for program in ("loadgo-agent", "loadgo-calculator", "loadgo-rjs"):
        assert any(name.endswith(f".data/scripts/{program}") for name in wheel_files)
    shared = {name.partition(".data/data/")[2] for name in wheel_files if ".data/data/" in name}
    assert shared == shared_files(loadgo.__version__).keys() | shared_files_of_agent().keys()


def test_the_shared_files_are_those_that_the_commands_print_and_need_no_extension_module() -> None:
    """A build for another processor cannot load the extension module, and has the version from elsewhere."""
    program = (
        "import json, sys; sys.modules['loadgo._loadgo'] = None; from loadgo.cli.shared_files import shared_files; "
        "print(json.dumps(shared_files('1.2.3')))"
    )
    made = json.loads(subprocess.check_output([sys.executable, "-c", program], text=True))
    pages = {f"share/man/man1/{name}": page for name, page in manual_pages("1.2.3").items()}
    assert pages.items() <= made.items()
    assert "loadgo 1.2.3" in made["share/man/man1/loadgo-run.1"]
    assert made.keys() - pages.keys() == {
        "share/bash-completion/completions/loadgo",
        "share/zsh/site-functions/_loadgo",
        "share/fish/vendor_completions.d/loadgo.fish",
    }
    assert made["share/bash-completion/completions/loadgo"] == completion_lines("bash")


def test_each_shared_file_of_the_agent_is_there() -> None:
    paths = shared_files_of_agent()
    assert sorted(paths.values()) == [f"loadgo-agent.{ending}" for ending in ("1", "bash", "fish", "zsh")]
    assert all((PROJECT / "packaging/agent" / name).stat().st_size > 0 for name in paths.values())


def test_the_installed_calculator_calculates() -> None:
    calculator = Path(sys.executable).parent / "loadgo-calculator"
    result = subprocess.run([calculator], input="a = 6 * 7\na\n", capture_output=True, text=True, check=True)
    assert "42" in result.stdout
