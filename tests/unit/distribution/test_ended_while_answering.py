"""Workers that are ended while they send an answer end all the same."""

from __future__ import annotations

import threading
import time

import pytest
from loadgo.distribution.workers import LocalProcesses
from support.processes import LONGEST_WAIT_S

LARGE_BYTES = 200_000_000
"""Bytes of an answer that takes long to send, so that a worker is ended in the middle."""

pytestmark = pytest.mark.processes


def test_workers_that_send_an_answer_are_ended_and_nobody_waits_for_the_rest() -> None:
    for delay_s in (0.1, 0.2, 0.3):
        workers = LocalProcesses(2)
        assert workers.submit(len, b"x").result() == 1
        for _ in range(2):
            workers.submit(bytes, LARGE_BYTES)
        time.sleep(delay_s)  # the answers are on their way, or not yet: each time another part
        ending = threading.Thread(target=workers.end, daemon=True)
        ending.start()
        ending.join(LONGEST_WAIT_S)
        assert not ending.is_alive()
