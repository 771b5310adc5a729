"""Runs pexpect under one load: `drive_pexpect.py LOAD` takes a `driven.Load` as JSON and prints a `driven.Driven`.

pexpect runs at its best: a thread for each user, `poll` instead of `select`, both delays off, exact text instead of a
pattern. Only response and lateness are recorded, in arrays that exist before the users.
"""

from __future__ import annotations

import gc
import json
import os
import random
import sys
import sysconfig
import threading
import time
from array import array
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
from driven import Driven, Load
from memory import Memory, memory

WARM_UP_S = 3.0
MOST_A_SECOND_UNTHINKING = 4000
PROMPT = "? "


@dataclass
class User:
    """One user, and what was measured of it in the window, in seconds."""

    random: random.Random
    response: array[float]
    lateness: array[float]
    done: int = 0


@dataclass
class Clock:
    """Where the run stands, for all threads."""

    measuring: bool = False
    over: bool = False
    everybody_in: threading.Event = field(default_factory=threading.Event)


def main() -> None:
    """Drives, and prints."""
    load = Load(**json.loads(sys.argv[1]))
    most = int(load.seconds * (3 / load.think_s if load.think_s else MOST_A_SECOND_UNTHINKING)) + 50
    users = [User(random.Random(number), _room(most), _room(most)) for number in range(load.users)]
    gc.collect()
    before, began = memory(), time.monotonic()
    if load.pinned:
        os.sched_setaffinity(0, {1})
    sessions = [_log_in(load.login) for _ in users]
    log_in_s = time.monotonic() - began
    if load.pinned:
        os.sched_setaffinity(0, {0})
    print(json.dumps(asdict(_driven(load, users, sessions, (before, log_in_s)))), flush=True)
    # The sessions end with their terminals; a thousand orderly farewells would take a minute.
    os._exit(0)


def _room(most: int) -> array[float]:
    return array("d", [1.0]) * most


def _log_in(login: str) -> pexpect.spawn[str]:
    program = Path(sysconfig.get_path("scripts")) / login
    session = pexpect.spawn(str(program), encoding="utf-8", use_poll=True, timeout=60)
    session.delaybeforesend = None
    session.delayafterread = None
    session.expect_exact(PROMPT)
    return session


def _driven(
    load: Load, users: list[User], sessions: list[pexpect.spawn[str]], logged_in: tuple[Memory, float]
) -> Driven:
    clock = Clock()
    threads = [
        threading.Thread(target=_type, args=(user, session, load.think_s, clock), daemon=True)
        for user, session in zip(users, sessions, strict=True)
    ]
    for thread in threads:
        thread.start()
    clock.everybody_in.set()
    time.sleep(WARM_UP_S)
    clock.measuring = True
    began, cpu_began = time.monotonic(), time.process_time()
    time.sleep(load.seconds)
    ended, cpu_ended = time.monotonic(), time.process_time()
    clock.measuring, grown = False, memory().since(logged_in[0])
    clock.over = True
    response = sorted(span for user in users for span in user.response[: user.done])
    lateness = sorted(span for user in users for span in user.lateness[: user.done])
    return Driven(
        interactions=len(response),
        window_s=ended - began,
        cpu_s=cpu_ended - cpu_began,
        allocated_bytes=grown.allocated,
        resident_bytes=grown.resident,
        log_in_s=logged_in[1],
        response_p50_us=response[len(response) // 2] * 1e6,
        response_p99_us=response[len(response) * 99 // 100] * 1e6,
        lateness_p50_us=lateness[len(lateness) // 2] * 1e6,
        lateness_p99_us=lateness[len(lateness) * 99 // 100] * 1e6,
        more={"pexpect": pexpect.__version__},
    )


def _type(user: User, session: pexpect.spawn[str], think_s: float, clock: Clock) -> None:
    clock.everybody_in.wait()
    while not clock.over:
        planned = time.monotonic()
        if think_s:
            planned += user.random.expovariate(1 / think_s)
            time.sleep(max(0.0, planned - time.monotonic()))
        sent = time.monotonic()
        session.sendline("12 + 30")
        session.expect_exact(PROMPT)
        ready = time.monotonic()
        if clock.measuring:
            user.response[user.done] = ready - sent
            user.lateness[user.done] = sent - planned
            user.done += 1


if __name__ == "__main__":
    main()
