"""Batches on their way to the disk: workers do not wait for it, and nothing is told before it is kept."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from loadgo.sweeping.folder import POINTS_FOLDER, batch_path
from loadgo.sweeping.plan import BatchTask
from loadgo.sweeping.sweep import BatchWriter


def task(number: int) -> BatchTask:
    return BatchTask(number, None, "", {}, {}, (), None)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / POINTS_FOLDER).mkdir()
    return tmp_path


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """A disk that takes nothing until the event is set, at the latest at the end of the test."""
    ready = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _file: ready.wait())
    yield ready
    ready.set()


def test_nobody_waits_for_a_slow_disk_and_nothing_is_told_before_it_is_kept(
    folder: Path, disk: threading.Event
) -> None:
    told: list[int] = []
    with BatchWriter(folder, lambda batch: told.append(batch.number)) as writer:
        for number in range(5):
            writer.keep(task(number), b"content")
        told_before = list(told)
        was_kept = batch_path(folder, 0).exists()
        disk.set()  # before any assertion: the end of the context waits for the disk
    assert told_before == []
    assert not was_kept
    assert told == [0, 1, 2, 3, 4]
    assert all(batch_path(folder, number).read_bytes() == b"content" for number in range(5))


def test_a_disk_that_takes_nothing_holds_the_work_back(
    folder: Path, disk: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes the first batch when somebody waits for one, and no sooner."""
    kept_batches: list[int] = []
    kept_at_waits: list[int] = []
    result_of = Future.result

    def wait_for(writing: Future[None], timeout: float | None = None) -> None:
        kept_at_waits.append(len(kept_batches))
        disk.set()
        return result_of(writing, timeout)

    monkeypatch.setattr(Future, "result", wait_for)
    with BatchWriter(folder, lambda _batch: None) as writer:
        for number in range(20):
            writer.keep(task(number), b"content")
            kept_batches.append(number)
        disk.set()
    assert kept_at_waits[0] == 8, "the ninth waits for the disk"
    assert len(kept_at_waits) == 20
    assert len(list((folder / POINTS_FOLDER).glob("*.parquet"))) == 20


def test_a_refusal_of_the_disk_reaches_the_caller(folder: Path) -> None:
    (folder / POINTS_FOLDER).rmdir()

    def keep_one() -> None:
        with BatchWriter(folder, lambda _batch: None) as writer:
            writer.keep(task(0), b"content")

    with pytest.raises(FileNotFoundError):
        keep_one()
