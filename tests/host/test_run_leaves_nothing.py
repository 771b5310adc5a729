"""Runs that fail in a Python process that lives on: no thread, descriptor, home or control group stays behind."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.outside import (
    NEEDS_ROOT,
    PATIENCE_S,
    Bench,
    check_good,
    environment,
    finished,
    left_behind,
    with_own_state,
)

QUICK = 'think = "none"\npasses = 3\nlines = ["echo here", "true"]\n'
LASTING = 'think = "fixed(5ms)"\npasses = 1000000\nlines = ["echo here"]\n'
SIZES_KB = (40, 44, 48, 52, 56, 60, 64, 72, 80, 96)
"""A run folder's files take 52 KB when the driver starts: these disks are full before, then, and later."""

THREAD_PATIENCE_S = 300
"""Time limit for the kernel to take a thread that has ended out of its process."""

PROGRAM = """
import json, os, shutil, sys, time
import loadgo
from loadgo.errors import LoadgoError

def held():
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            names.append(open(f"/proc/self/task/{task}/comm").read().strip())
        except OSError:
            pass  # it has ended meanwhile
    return sorted(name for name in names if name.startswith("loadgo-")), len(os.listdir("/proc/self/fd"))

def held_in_the_end(is_the_end):
    until = time.monotonic() + PATIENCE_S  # the kernel shows a thread for a moment after it was waited for
    while not is_the_end(held()) and time.monotonic() < until:
        time.sleep(0.01)
    return held()

def failing(attempt):
    try:
        attempt()
    except (LoadgoError, KeyError, KeyboardInterrupt) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing was raised"

def raising(error, look):
    looks = iter(range(1, look))
    def progress(told):
        if next(looks, None) is None:
            raise error("as the test has it")
    return progress

def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder

ATTEMPTS
first = failing(attempts[0])  # what Python itself and Polars open once is not counted
before = held_in_the_end(lambda now: now[0] == [])
said = [(failing(attempt), held_in_the_end(lambda now: now == before)) for attempt in attempts]
print(json.dumps({"before": before, "said": said}))
"""


@pytest.fixture
def small_disks(bench: Bench) -> Iterator[list[Path]]:
    """A disk of each of these sizes."""
    with ExitStack() as mounted:
        disks = []
        for size in SIZES_KB:
            disk = bench.folder / f"disk-{size}k"
            disk.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", disk], check=True)
            mounted.callback(subprocess.run, ["umount", disk], check=True)
            disks.append(disk)
        yield disks


def errors_of(bench: Bench, attempts: str) -> list[str]:
    """The errors of several attempts in one process, which must hold the same resources afterwards as before."""
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.replace("ATTEMPTS", attempts).replace("PATIENCE_S", str(THREAD_PATIENCE_S))],
        cwd=bench.folder,
        stdout=subprocess.PIPE,
        text=True,
        env=environment(TMPDIR=str(bench.homes)),
    )
    bench.started.append(program.pid)
    out, _ = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 0
    document = json.loads(out)
    assert [held for _, held in document["said"] if held != document["before"]] == []
    assert document["before"][0] == []
    assert left_behind(bench) == []
    return [said for said, _ in document["said"]]


@NEEDS_ROOT
def test_a_disk_of_any_size_that_is_too_small_leaves_nothing_of_a_run(bench: Bench, small_disks: list[Path]) -> None:
    bench.script(QUICK)
    disks = [str(disk) for disk in small_disks]
    said = errors_of(
        bench,
        "attempts = [lambda disk=disk: loadgo.run('asked.toml', users=20, out=fresh(disk + '/run')) "
        f"for disk in {disks!r}]\n",
    )
    assert len(said) == len(SIZES_KB)
    assert all(words.startswith("BadRun: cannot ") and "No space left on device" in words for words in said), said


SEEN_HOMES = """
import stat, threading

homes, modes, is_over = os.environ["TMPDIR"], set(), threading.Event()
reading_homes = threading.Lock()

def look():
    while not is_over.wait(0.0005):
        with reading_homes:
            entries = list(os.scandir(homes))
        for home in entries:
            try:
                if home.is_dir():  # Python's tempfile tries its folder once, with a file
                    modes.add(stat.S_IMODE(home.stat().st_mode))
            except FileNotFoundError:
                pass  # its run is over

def held(held=held):
    with reading_homes:  # the descriptor by which `look` reads the folder is none of a run
        return held()

os.umask(0)
threading.Thread(target=look, daemon=True).start()

def failing(attempt, failing=failing):
    is_last = attempt is attempts[-1]
    said = failing(attempt)
    if is_last:
        is_over.set()
        return f"{said} MODES {sorted(map(oct, modes))}"
    return said

def until_seen(told):
    if modes:
        raise KeyError("homes were seen")
"""
"""Looks at the users' homes as long as the attempts go on, and adds their modes to what the last one says.

On a busy host the thread that looks may see no home of a short run. `until_seen` ends a long run when it has seen one.
"""


@NEEDS_ROOT
def test_homes_are_for_their_user_alone_also_where_a_run_fails(bench: Bench, small_disks: list[Path]) -> None:
    bench.script(QUICK)
    bench.script(LASTING, "lasting")
    disks = [str(disk) for disk in small_disks[1::3]]
    *_, last = errors_of(
        bench,
        "attempts = [lambda disk=disk: loadgo.run('asked.toml', users=20, out=fresh(disk + '/run')) "
        f"for disk in {disks!r}]\n"
        "attempts += [lambda: loadgo.run('lasting.toml', users=3, out=fresh('lasting'), progress=until_seen)]\n"
        f"{SEEN_HOMES}",
    )
    assert last.endswith("MODES ['0o700']"), last


LIMITED = """
import resource

most = 400
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

def limited(room, attempt):
    taken = [os.open("/dev/null", os.O_RDONLY) for _ in range(most - len(os.listdir("/proc/self/fd")) - room)]
    try:
        attempt()
    finally:
        for descriptor in taken:
            os.close(descriptor)
"""
"""An attempt that has room for so many descriptors more."""


@NEEDS_ROOT
def test_too_few_descriptors_leave_nothing_of_a_run_wherever_they_end(bench: Bench) -> None:
    bench.script(QUICK)
    rooms = [200, 4, 30, *range(62, 86, 3)]  # the first opens what Python and Polars open once
    said = errors_of(
        bench,
        f"{LIMITED}\nattempts = [lambda room=room: limited(room, lambda: loadgo.run('asked.toml', users=2, "
        f"meters='cheap', out=fresh('run'))) for room in {rooms!r}]\n",
    )
    by_room = dict(zip(rooms, said, strict=True))
    assert by_room[200] == "nothing was raised"
    refusals = [by_room[room] for room in sorted(rooms) if by_room[room] != "nothing was raised"]
    assert len(refusals) >= 3
    assert all(re.search("open files", words) for words in refusals), refusals


@NEEDS_ROOT
@pytest.mark.parametrize("most", [71, 74, 77])
def test_a_hard_limit_of_descriptors_ends_a_run_in_words(most: int, bench: Bench) -> None:
    bench.script(QUICK)
    words = ["run", "asked.toml", "--users", "2", "--meters", "cheap", "--out", "run", "--quiet"]
    told = finished(bench.start(*words, before=("prlimit", f"--nofile={most}:{most}")))
    if told.returncode == 2:
        assert "open files" in told.stderr, told.stderr
    else:
        check_good(told, bench.tables("run"))
    assert left_behind(bench) == []


@NEEDS_ROOT
def test_a_small_disk_leaves_nothing_of_a_simulated_run_or_of_metering(bench: Bench, small_disks: list[Path]) -> None:
    disks = [str(disk) for disk in small_disks]
    said = errors_of(
        bench,
        "attempts = [lambda disk=disk: loadgo.run('light', on='ctss', users=3, out=fresh(disk + '/run')) for disk in "
        f"{disks!r}]\n"
        "attempts += [lambda disk=disk: loadgo.meter(duration='200ms', out=fresh(disk + '/metered')) "
        f"for disk in {disks!r}]\n",
    )
    assert len(said) == 2 * len(SIZES_KB)
    assert "nothing was raised" not in said


@pytest.mark.parametrize(("error", "outcome"), [("KeyError", "failed"), ("KeyboardInterrupt", "stopped")])
def test_a_callback_that_raises_at_any_moment_ends_the_run(error: str, outcome: str, bench: Bench) -> None:
    bench.script(LASTING)
    said = errors_of(
        bench,
        "attempts = [lambda look=look: loadgo.run('asked.toml', users=3, out=f'at-{look}-{time.monotonic_ns()}', "
        f"progress=raising({error}, look)) for look in (1, 2, 3)]\n",
    )
    assert all(words.startswith(f"{error}: ") for words in said), said
    folders = sorted(bench.folder.glob("at-*/run.toml"))
    assert len(folders) == 4
    for folder in folders:
        account = tomllib.loads(folder.read_text())
        assert (account["finished"], account["outcome"]) == (True, outcome)
        failures = [note for note in account["notes"] if note.startswith("the run failed: ")]
        reason = "the run failed: its caller raised KeyError: 'as the test has it'"
        assert failures == ([reason] if outcome == "failed" else [])


def test_a_callback_that_raises_ends_metering_and_a_simulated_run(bench: Bench) -> None:
    said = errors_of(
        bench,
        "attempts = [lambda look=look: loadgo.meter(duration='1h', out=f'metered-{look}-{time.monotonic_ns()}', "
        "progress=raising(KeyError, look)) for look in (1, 2)]\n"
        "attempts += [lambda look=look: loadgo.run('light', on='ctss', users=3, duration='10000h', "
        "out=f'simulated-{look}-{time.monotonic_ns()}', progress=raising(KeyError, look)) for look in (1, 2)]\n",
    )
    assert [words.split(":")[0] for words in said] == ["KeyError"] * 4, said
    accounts = [tomllib.loads(path.read_text()) for path in bench.folder.glob("*/run.toml")]
    assert [account["outcome"] for account in accounts] == ["failed"] * 5, "the first attempt was made twice"
    assert all("its caller raised KeyError" in account["notes"][-1] for account in accounts)


@pytest.fixture
def private(bench: Bench) -> Iterator[tuple[str, ...]]:
    """The words of `with_own_state`."""
    yield with_own_state(bench)[0]
    subprocess.run(["chattr", "-R", "-i", bench.homes], check=True)


ONE_STAYS = """think = "none"
lines = ["touch here; case $PWD in */user-2) chattr +i here;; esac"]
"""


@NEEDS_ROOT
def test_a_home_that_cannot_be_removed_is_told_also_with_quiet_and_the_others_go(
    bench: Bench, private: tuple[str, ...]
) -> None:
    words = ("run", bench.script(ONE_STAYS), "--users", "3", "--quiet", "--out", "kept")
    result = finished(bench.start(*words, before=private))
    check_good(result, bench.tables("kept"))
    (kept,) = bench.homes.glob("*/*/*")
    assert (kept.parent.name, kept.name) == ("user-2", "here")
    assert len(list(bench.homes.glob("*/*"))) == 1, "the homes of the other users are gone"
    assert result.stdout == "kept\n"
    text = " ".join(result.stderr.split())
    for part in (str(kept), "Operation not permitted", "remove what is named by hand"):
        assert part in text, result.stderr
    notes = tomllib.loads((bench.folder / "kept" / "run.toml").read_text())["notes"]
    assert [note for note in notes if str(kept) in note and "Operation not permitted" in note]
    subprocess.run(["chattr", "-i", kept], check=True)
    short = bench.script('think = "none"\nlines = ["true"]\n', "next")
    bench.run(short, out="next", before=private)
    assert left_behind(bench) == [], "the next run has removed it"


@NEEDS_ROOT
@pytest.mark.parametrize("command", [["ready", "--quiet-output"], ["transfer"]], ids=["ready", "transfer"])
def test_a_metered_command_tells_what_stays_and_removes_it_when_that_can_be_done(
    command: list[str], bench: Bench, private: tuple[str, ...]
) -> None:
    bench.run(bench.script(ONE_STAYS), "--users", "2", before=private)
    (kept,) = bench.homes.glob("*/*/*")
    for program, status in (("true", 0), ("no-such-program", 127)):
        text = " ".join(bench.loadgo(*command, "--", program, before=private, status=status).stderr.split())
        for words in (str(kept), "Operation not permitted", "remove what is named by hand"):
            assert words in text, text
    subprocess.run(["chattr", "-i", kept], check=True)
    text = bench.loadgo(*command, "--", "true", before=private).stderr
    assert "Operation not permitted" not in text
    assert "undone after a run that was killed" in " ".join(text.split())
    assert left_behind(bench) == []


@NEEDS_ROOT
def test_what_stays_is_in_the_result_of_the_library_and_in_its_errors(bench: Bench, private: tuple[str, ...]) -> None:
    bench.script(ONE_STAYS)
    program = """
import loadgo
made = loadgo.run("asked.toml", users=2, out="done")
assert len(made.left_behind) == 1 and made.left_behind[0] in made.notes, made
print(made.left_behind[0])
try:
    loadgo.run("asked.toml", users=2, passes=100000, out="failed", progress=lambda told: told["no such key"])
except KeyError as error:
    print("\\n".join(error.__notes__))
"""
    told = subprocess.run(
        [*private, sys.executable, "-c", program],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        env=environment(TMPDIR=str(bench.homes)),
    )
    assert told.returncode == 0, told.stderr
    first, *others = told.stdout.splitlines()
    assert str(bench.homes) in first
    assert "Operation not permitted" in first
    assert len(others) >= 1, "what the run before has left is told too"


@NEEDS_ROOT
def test_groups_that_could_not_be_made_are_no_leftovers(bench: Bench) -> None:
    """As in a container whose /sys is read-only: the run goes on without control groups."""
    bench.script(QUICK)
    private, _ = with_own_state(bench)
    read_only = "for m in $(awk '{print $5}' /proc/self/mountinfo | grep ^/sys); do mount -o remount,bind,ro $m; done"
    before = (*private, "sh", "-c", f'{read_only}; exec "$@"', "sh")
    told = finished(bench.start("run", "asked.toml", "--users", "2", "--out", "kept", before=before))
    check_good(told, bench.tables("kept"))
    assert "cannot make a group" in told.stderr
    assert "could not be undone" not in told.stderr
    assert list((bench.folder / "run" / "loadgo").glob("*.run")) == []
