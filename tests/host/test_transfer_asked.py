"""Impossible requests to `loadgo transfer`, which are refused with a reason before any byte moves."""

import os
import shutil
from pathlib import Path

import pytest
from loadgo.transfers.transfer import serving
from support.far_end import waiting
from support.outside import NEEDS_FULL_DEVICE, Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place of one's own, with a file that is there already."""
    (tmp_path / "homes").mkdir()
    (tmp_path / "there").write_text("mine\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "pipe")
    return Bench(tmp_path)


NOBODY_THERE = ("--to", "127.0.0.1:1", "--size", "1")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("serve", "--to", "127.0.0.1:5"), "serve moves what others ask it for: leave --to out"),
        (("serve", "--method", "splice", "--grid", "2"), "leave --method, --grid out"),
        (("serve", "127.0.0.1:3920"), "its address is --listen ADDRESS:PORT"),
        (("serve", "--listen", "nowhere"), "'nowhere' is no ADDRESS:PORT to wait at"),
        (("serve", "--token-file", "bytes"), "bytes is no text in UTF-8"),
        ((*NOBODY_THERE, "--once", "--columns", "a=b"), "leave --once, --columns out: a transfer to another host"),
        (("--read", "there", "--to", "127.0.0.1:5"), "--read moves nothing: leave --to out"),
        (("--at-most", "5s", "--", "touch", "ran"), "leave --at-most out, or the command"),
        ((*NOBODY_THERE, "--receive", "--into", "there"), "there exists: name a new file"),
        (("--to", "127.0.0.1:1", "--from", "pipe"), "pipe is no plain file"),
        (("--to", "127.0.0.1:1", "--from", "homes"), "homes is no plain file"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(bench: Bench, words: tuple[str, ...], told: str) -> None:
    before = sorted(path.name for path in bench.folder.iterdir())
    assert told in " ".join(bench.typed("transfer", *words, status=2).stderr.split())
    assert sorted(path.name for path in bench.folder.iterdir()) == before
    assert (bench.folder / "there").read_text() == "mine\n"


def test_the_methods_are_listed_where_output_goes(bench: Bench) -> None:
    assert "bytes a call" in bench.typed("transfer", "--methods").stdout


def test_nothing_to_move_comes_over_whole(bench: Bench) -> None:
    with waiting() as server:
        told = bench.typed("transfer", "--to", server.address, "--size", "0").stdout
    assert "There was nothing to move" in told


@pytest.mark.parametrize("page", [None, "page.txt"])
def test_rows_on_the_standard_output_stand_there_alone(bench: Bench, page: str | None) -> None:
    with waiting() as server:
        options = ("--to", server.address, "--size", "4096", "--csv", "-", *(("-o", page) if page else ()))
        result = bench.typed("transfer", *options)
    heading, *rows = result.stdout.splitlines()
    assert (heading[:16], len(rows)) == ("method,direction", 2)
    assert page is None or "Sending a " in (bench.folder / page).read_text()


@NEEDS_FULL_DEVICE
@pytest.mark.parametrize("grid", [(), ("--grid", "1")], ids=["transfers", "a grid"])
def test_rows_that_cannot_be_written_are_told_after_the_answer(bench: Bench, grid: tuple[str, ...]) -> None:
    with waiting() as server:
        options = ("--to", server.address, "--size", "4096", *grid, "--csv", "/dev/full")
        result = bench.typed("transfer", *options, status=2)
    assert "Sending a " in result.stdout
    assert "/dev/full: No space left on device" in result.stderr


@NEEDS_FULL_DEVICE
def test_a_page_that_cannot_be_written_does_not_keep_the_rows_back(bench: Bench) -> None:
    with waiting() as server:
        options = ("--to", server.address, "--size", "4096", "-o", "/dev/full", "--csv", "rows.csv")
        result = bench.typed("transfer", *options, status=2)
    assert "Sending a " in result.stdout
    assert len((bench.folder / "rows.csv").read_text().splitlines()) == 3


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="there is no prlimit here to bound files: util-linux")
def test_a_file_that_takes_only_a_part_is_not_left_behind(bench: Bench) -> None:
    with waiting() as server:
        options = ("--to", server.address, "--size", "64", "-o", "page.txt", "--csv", "rows.csv")
        result = bench.loadgo("transfer", *options, status=2, before=("prlimit", "--fsize=100"))
    assert "Sending a " in result.stdout
    assert "rows.csv: File too large" in result.stderr
    assert not (bench.folder / "page.txt").exists()
    assert not (bench.folder / "rows.csv").exists()


def test_an_address_without_a_port_is_no_place_to_wait_at() -> None:
    with pytest.raises(ValueError, match="is no ADDRESS:PORT"), serving("localhost"):
        pass
