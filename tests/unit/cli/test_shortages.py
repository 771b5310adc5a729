"""A process that may open no more files, or has no more memory, says so: no traceback, and no missing module."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
import typer
from loadgo.cli.output import errors_as_messages, print_error


@contextmanager
def no_more_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def raised(error: Exception) -> None:
    with errors_as_messages():
        raise error


def test_a_module_that_cannot_be_loaded_for_want_of_files_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with no_more_files(), pytest.raises(typer.Exit) as left:
        raised(ImportError("libx.so: cannot open shared object file"))
    assert left.value.exit_code == 2
    assert "Too many open files" in capsys.readouterr().err


def test_memory_that_is_used_up_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left:
        raised(MemoryError())
    assert left.value.exit_code == 2
    assert "no memory left" in capsys.readouterr().err


def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(ImportError):
        raised(ImportError("no module named x"))


def test_an_error_is_printed_though_nothing_more_can_be_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rich" or name == "loadgo.notation.figures"]:
        monkeypatch.delitem(sys.modules, name)
    with no_more_files():
        print_error("the disk is full \x1b[2J")
    assert capsys.readouterr().err == "loadgo: the disk is full �[2J\n"


def test_an_error_that_nobody_expects_is_no_bad_finding(tmp_path: Path) -> None:
    """The status 1 says that a finding is bad. A library that cannot be loaded has found nothing."""
    (tmp_path / "polars.py").write_text("raise ImportError('a broken library')\n")
    told = subprocess.run(
        [sys.executable, "-m", "loadgo", "query", "SELECT 1"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "LOADGO_TRACEBACK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ImportError: a broken library" in told.stderr
    assert told.returncode == 2


VERSION = ("-m", "loadgo", "--version")


def python(cache: Path, *words: str, file_bytes: int = resource.RLIM_INFINITY) -> subprocess.CompletedProcess[str]:
    """Python whose compiled modules are in `cache`, and whose files may have so many bytes."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(
        [sys.executable, *words],
        env={**kept, "PYTHONPYCACHEPREFIX": str(cache)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes)),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_limit_on_the_size_of_files_cuts_no_compiled_module(tmp_path: Path) -> None:
    assert python(tmp_path, "-m", "loadgo.errors").returncode == 0, "modules of Python's own start"
    assert python(tmp_path, *VERSION, file_bytes=20_000).returncode == 0
    after = python(tmp_path, *VERSION)
    assert (after.returncode, after.stderr) == (0, "")


def test_a_compiled_module_that_is_cut_is_named(tmp_path: Path) -> None:
    assert python(tmp_path, *VERSION).returncode == 0
    (kept,) = tmp_path.rglob("loadgo/cli/app.cpython-*.pyc")
    kept.write_bytes(kept.read_bytes()[:1_000])
    told = python(tmp_path, *VERSION)
    assert told.returncode == 2
    assert told.stderr == f"loadgo: a compiled module of Python is damaged: delete {kept}\n"


ENDINGS = {
    "an abort": ("os.abort()", 2),
    "exit by a library": ("ctypes.CDLL(None).exit(1)", 2),
    "its own end": ("sys.exit(1)", 1),
    "an error": ("raise KeyError", 1),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_library_that_gives_up_ends_the_command_in_words(ending: str) -> None:
    """As Rust's libraries do without memory, by an abort, and OpenBLAS, by `exit` with the status 1."""
    call, status = ENDINGS[ending]
    program = f"import ctypes, os, sys\nfrom loadgo.running.stopping import say_at_abort\nsay_at_abort(2)\n{call}\n"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == status
    assert ("loadgo: a library gave up" in ended.stderr) == (status == 2)


def test_a_library_that_gets_no_memory_as_it_is_loaded_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left:
        raised(ImportError("libx.so: failed to map segment from shared object"))
    assert left.value.exit_code == 2
    assert "no memory left" in capsys.readouterr().err


def test_polars_that_goes_on_without_its_binary_is_told() -> None:
    """Polars only warns where its binary gets no memory, and meets other errors later."""
    program = """
import sys, types
from loadgo.cli.output import errors_as_messages

class Loader:
    def find_spec(self, name, path=None, target=None):
        if name == "polars._plr":
            raise ImportError("could not find Polars' Rust module")

sys.meta_path.insert(0, Loader())
with errors_as_messages(), errors_as_messages():
    import loadgo.records.interactions
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stderr.count("no memory left") == 1, ended.stderr


def test_an_interrupt_by_a_library_that_gets_no_thread_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenBLAS interrupts its own process where it can start no thread."""

    def refuse(_thread: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Thread, "start", refuse)
    with pytest.raises(typer.Exit) as left, errors_as_messages():
        raise KeyboardInterrupt
    assert left.value.exit_code == 2
    assert "no further thread can be started" in capsys.readouterr().err


REFUSED_PARTS = {"a part of Python": "signal", "a part of loadgo": "typer"}
REFUSALS = {
    "memory": ("raise MemoryError", "loadgo: there is no memory left"),
    "files": (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3)); raise OSError(24, 'Too many open files')",
        "loadgo: a part of loadgo cannot be loaded: too many open files",
    ),
}


@pytest.mark.parametrize("part", REFUSED_PARTS)
@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_shortage_while_the_command_line_is_loaded_is_told(part: str, refusal: str) -> None:
    refused, words = REFUSALS[refusal]
    program = f"""
import resource, runpy, sys
class Loader:
    def find_spec(self, name, path=None, target=None):
        if name == {REFUSED_PARTS[part]!r}:
            {refused}
sys.modules.pop({REFUSED_PARTS[part]!r}, None)
sys.meta_path.insert(0, Loader())
runpy.run_module("loadgo", run_name="__main__")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(words), ended.stderr
