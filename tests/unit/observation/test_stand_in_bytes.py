"""Bytes of the stand-ins: they stay with their run, keep their means, and are words of a job if there are any."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.observation.sessions import CommandUse
from loadgo.observation.stand_in_jobs import READ_FILE_BYTES, StandInJob, stand_in_jobs

MB = 1_000_000
BYTES = ("read_bytes", "written_bytes", "storage_read_bytes", "storage_written_bytes")
LONG = StandInJob(20e6, 0, 237, 600, 7, 0)
SHORT = replace(LONG, user_ns=2e6)


def use(cpu_ms: int, *moved: int) -> CommandUse:
    return replace(CommandUse("make", cpu_ms * 1_000_000, 0), **dict(zip(BYTES, moved, strict=False)))


@given(st.lists(st.tuples(*[st.integers(0, 500)] * 5), min_size=1, max_size=200))
def test_each_count_of_bytes_keeps_its_mean(drawn: list[tuple[int, ...]]) -> None:
    jobs = stand_in_jobs([use(*row) for row in drawn])
    for place, name in enumerate(BYTES, start=1):
        mean = sum(row[place] for row in drawn) / len(drawn)
        assert sum(getattr(job, name) for job in jobs) / len(jobs) == pytest.approx(mean)


def test_bytes_stay_with_the_processor_time_of_their_run() -> None:
    jobs = stand_in_jobs([use(10, 0, 0, 0, 0)] * 60 + [use(500, MB, MB, 2 * MB, 3 * MB)] * 60)
    assert {(job.cpu_ns, job.storage_read_bytes, job.storage_written_bytes) for job in jobs} == {
        (10e6, 0, 0),
        (500e6, 2 * MB, 3 * MB),
    }


def test_what_one_run_of_many_read_is_not_lost() -> None:
    jobs = stand_in_jobs([use(10 + number) for number in range(500)] + [use(100, 0, 0, 400 * MB, 0)])
    assert sum(job.storage_read_bytes for job in jobs) / len(jobs) == pytest.approx(400 * MB / 501)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (LONG, "0.02 0 237 600 7 0"),
        (replace(LONG, read_bytes=7.4), "0.02 0 237 600 7 0 7 0 0 0"),
        (replace(LONG, read_bytes=9, written_bytes=8, storage_read_bytes=4096, storage_written_bytes=8192),
         "0.02 0 237 600 7 0 9 8 4096 8192"),
        (replace(SHORT, read_bytes=20_000, written_bytes=60_000), "0 0 237 600 3 0"),
        (replace(SHORT, read_bytes=200_000), "0 0 237 600 3 0 200000 0 0 0"),
        (replace(SHORT, storage_written_bytes=4096), "0 0 237 600 3 0 0 0 0 4096"),
        (replace(SHORT, storage_read_bytes=2 * READ_FILE_BYTES), "0.002 0 237 600 7 0 0 0 33554432 0"),
    ],
)  # fmt: skip
def test_a_job_in_words_has_bytes_if_there_are_any(job: StandInJob, words: str) -> None:
    assert job.in_words() == words
