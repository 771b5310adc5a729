"""Privacy: of what people typed nothing is in any output, and names of programs only as far as they may be."""

from __future__ import annotations

import stat
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.observation.figures_file import read_figures
from support.accounting_records import EPOCH_S, MadeSession, made_day, written_accounting, written_history
from support.command_line import typed
from support.readable_files import readable_bytes

SECRETS = (
    "s3cretArgument", "PathOfAnna", "tok3n", "heredocSecret", "mistypedPassw0rd", "continuedSecret", "quotedSecret",
    "untimedSecret", "functionSecret", "commentSecret",
)  # fmt: skip
LINES = (
    "ls -l s3cretArgument",
    "/home/PathOfAnna/bin/ls",
    "/home/PathOfAnna/thesis --help",
    "TOKEN=tok3n curl -H tok3n",
    "cat <<END\nheredocSecret\nEND",
    "mistypedPassw0rd",
    "echo a \\\ncontinuedSecret",
    "'quotedSecret' x",
    "functionSecret() { ls; }",
    "#commentSecret",
    "ls;mistypedPassw0rd",
    "s\u00e9cret mistypedPassw0rd",
)
FORMATS = ("text", "html", "json", "csv", "md")


def history(path: Path, kind: str) -> Path:
    stamps = [f"#{EPOCH_S + 7 * k}\n" if kind == "bash" else f": {EPOCH_S + 7 * k}:3;" for k in range(len(LINES))]
    text = "untimedSecret ls\n" + "".join(f"{stamp}{line}\n" for stamp, line in zip(stamps, LINES, strict=True))
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["bash", "zsh"])
@pytest.mark.parametrize("format", FORMATS)
def test_no_byte_of_what_was_typed_is_in_any_output(tmp_path: Path, kind: str, format: str) -> None:
    source = history(tmp_path / "PathOfAnna", kind)
    records = written_accounting(tmp_path / "pacct", made_day())
    for words in (["--from", source], ["--from", records, "--think-from", source]):
        folder = tmp_path / f"out-{len(words)}"
        folder.mkdir()
        told = typed(folder, "observe", *words, "-o", "a.toml", "--format", format, "--report", "report")
        outputs = [readable_bytes(path) for path in sorted(folder.iterdir())] + [
            told.stdout.encode(),
            told.stderr.encode(),
        ]
        assert len(outputs) == 5
        for secret in SECRETS:
            assert all(secret.encode() not in output for output in outputs), secret


def test_the_test_finds_a_name_that_is_kept(tmp_path: Path) -> None:
    text = loadgo.observe(history(tmp_path / "history", "bash")).text
    assert 'as = "ls"' in text
    assert 'as = "curl"' in text or 'as = "other"' in text


def test_hashed_names_tell_commands_apart_and_nothing_else(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", MadeSession(100).typed("thesis").typed("vim").processes())
    named, once, again = loadgo.observe(records), *(loadgo.observe(records, names="none") for _ in range(2))
    names = {row.command for row in once.commands}
    assert {row.command for row in named.commands} == {"thesis", "vim"}
    assert len(names) == 2
    assert all(name.startswith("program-") for name in names)
    assert names.isdisjoint(row.command for row in again.commands)
    assert all("thesis" not in once.report(kind) for kind in FORMATS)
    assert "thesis" not in once.text


def test_only_this_user_may_read_what_is_written(tmp_path: Path) -> None:
    source = written_history(tmp_path / "history")
    typed(tmp_path, "observe", "--from", source, "-o", "a.toml", "--format", "html")
    for name in ("a.toml", "a.figures.parquet", "observation.html"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    typed(tmp_path, "observe", "--from", source, "-o", "a.toml", "--force")
    for name in ("a.toml", "a.figures.parquet"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_figures_have_no_people_no_dates_and_no_hours(tmp_path: Path) -> None:
    loadgo.observe(written_accounting(tmp_path / "pacct", made_day()), output=tmp_path / "a.toml")
    figures = read_figures(tmp_path / "a.figures.parquet")
    texts = [name for name, kind in figures.rows.schema.items() if kind == pl.String]
    assert texts == ["class", "command"]
    assert set(figures.rows["command"]) == {"ls", "cat", "git", "cc1"}
    assert figures.rows["session"].unique().sort().to_list() == list(range(24))
    assert figures.rows["began_min"].max() == 23_000 // 60
    assert figures.rows.columns[:5] == ["class", "session", "began_min", "place", "command"]


@pytest.mark.parametrize("kind", ["bash", "zsh"])
def test_hashed_names_are_those_of_the_figures(tmp_path: Path, kind: str) -> None:
    observation = loadgo.observe(history(tmp_path / "history", kind), names="none", output=tmp_path / "a.toml")
    assert set(read_figures(tmp_path / "a.figures.parquet").rows["command"]) == {
        row.command for row in observation.commands
    }
