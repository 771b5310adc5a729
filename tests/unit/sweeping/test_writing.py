"""Batches on their way to the disk: workers do not wait for it, and nothing is told before it is kept."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from loadgo.sweeping.folder import POINTS_FOLDER, batch_path
from loadgo.sweeping.plan import BatchTask
from loadgo.sweeping.writing import BatchWriter


def task(number: int) -> BatchTask:
    return BatchTask(number, None, "", {}, {}, (), None)  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / POINTS_FOLDER).mkdir()
    return tmp_path


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """A disk that takes nothing until the event is set."""
    ready = threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _file: ready.wait())
    return ready


def test_nobody_waits_for_a_slow_disk_and_nothing_is_told_before_it_is_kept(
    folder: Path, disk: threading.Event
) -> None:
    told: list[int] = []
    with BatchWriter(folder, lambda batch: told.append(batch.number)) as writer:
        for number in range(5):
            writer.keep(task(number), b"content")
        assert told == []
        assert not batch_path(folder, 0).exists()
        disk.set()
    assert told == [0, 1, 2, 3, 4]
    assert all(batch_path(folder, number).read_bytes() == b"content" for number in range(5))


def test_a_disk_that_takes_nothing_holds_the_work_back(folder: Path, disk: threading.Event) -> None:
    kept_batches = threading.Semaphore(0)

    def keep_many() -> None:
        with BatchWriter(folder, lambda _batch: None) as writer:
            for number in range(20):
                writer.keep(task(number), b"content")
                kept_batches.release()

    working = threading.Thread(target=keep_many)
    working.start()
    for _ in range(8):
        assert kept_batches.acquire(timeout=60)
    assert not kept_batches.acquire(timeout=0.2), "the ninth waits for the disk"
    disk.set()
    working.join()
    assert len(list((folder / POINTS_FOLDER).glob("*.parquet"))) == 20


def test_a_refusal_of_the_disk_reaches_the_caller(folder: Path) -> None:
    (folder / POINTS_FOLDER).rmdir()

    def keep_one() -> None:
        with BatchWriter(folder, lambda _batch: None) as writer:
            writer.keep(task(0), b"content")

    with pytest.raises(FileNotFoundError):
        keep_one()
