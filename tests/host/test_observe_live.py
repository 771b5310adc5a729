"""Log-in sessions observed while somebody types at real terminals: what is seen, and what is never kept."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import loadgo
import pexpect
import pytest
from loadgo import _loadgo
from loadgo.observation.material import ObservedPeople
from loadgo.observation.program_names import name_keeper
from loadgo.observation.typed_lines import LinesFound, find_lines
from support.kernel_programs import all_unloaded, held_by, holds_programs
from support.outside import COMMAND, LOOK_EVERY_S, NEEDS_ROOT, NOBODY, PATIENCE_S, Bench

pytestmark = NEEDS_ROOT

EVERYBODY = ObservedPeople()
PROMPT = "ready$ "
WORKER = """#!/usr/bin/python3 -IS
import mmap, resource, sys, time
memory = mmap.mmap(-1, 5000 * mmap.PAGESIZE)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, len(memory), mmap.PAGESIZE):
    memory[place] = 1
while time.process_time() < 0.2:
    pass
sys.stdout.write("x" * 20000 + chr(10))
sys.stdout.flush()
used = resource.getrusage(resource.RUSAGE_SELF)
open(sys.argv[1], "w").write(f"{used.ru_utime + used.ru_stime} {used.ru_minflt}")
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A folder to observe from."""
    (tmp_path / "homes").mkdir()
    return Bench(tmp_path)


class Person:
    """Somebody at a terminal of its own, with a shell."""

    def __init__(self, folder: Path, *shell: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PS1": PROMPT, "TERM": "xterm"}
        words = list(shell or ("bash", "--norc", "--noprofile", "-i"))
        self.terminal = pexpect.spawn(
            words[0], words[1:], env=environment, cwd=str(folder), timeout=PATIENCE_S, encoding="utf-8", echo=True
        )
        self.terminal.delaybeforesend = None
        self.waits_at_prompt()

    def waits_at_prompt(self) -> None:
        """Waits until the prompt is there, and the shell in the foreground sleeps."""
        self.terminal.expect_exact(PROMPT)
        give_up = time.monotonic() + PATIENCE_S
        while not is_asleep(os.tcgetpgrp(self.terminal.child_fd)):
            assert time.monotonic() < give_up
            time.sleep(LOOK_EVERY_S)

    def types(self, line: str) -> None:
        """Types a line, and waits for the next prompt."""
        self.terminal.send(line + "\r")
        self.waits_at_prompt()


def is_asleep(pid: int) -> bool:
    """Whether the process waits for something."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] == "S"
    return False


@contextmanager
def people(folder: Path, *shells: tuple[str, ...]) -> Iterator[list[Person]]:
    """People at their prompts, who are gone afterwards."""
    present: list[Person] = []
    try:
        for shell in shells or ((),):
            present.append(Person(folder, *shell))
        yield present
    finally:
        for person in present:
            person.terminal.close(force=True)


@contextmanager
def observer(chosen: ObservedPeople = EVERYBODY) -> Iterator[_loadgo.SessionObserver]:
    """The kernel's programs at work."""
    made = _loadgo.SessionObserver(sorted(chosen.wanted), sorted(chosen.left_out))
    try:
        yield made
    finally:
        made.close()


def lines_of(made: _loadgo.SessionObserver, *names: str) -> LinesFound:
    """The lines so far whose first program has one of these names. Others type on this host, too."""
    wanted = {name.encode() for name in names}
    return find_lines([line for line in made.gathered()["lines"] if line["name"] in wanted], name_keeper("all"), 0)


def test_a_line_has_what_its_program_used(tmp_path: Path) -> None:
    (tmp_path / "worker-a").write_text(WORKER)
    (tmp_path / "worker-a").chmod(0o755)
    with observer() as made, people(tmp_path) as (person,):
        for number in range(4):
            person.types(f"./worker-a used-{number} | cat >/dev/null")
        (session,) = lines_of(made, "worker-a").sessions
    truth = [tuple(map(float, (tmp_path / f"used-{number}").read_text().split())) for number in range(4)]
    assert len(session.commands) == 4
    assert session.person == os.getuid()
    for use, (cpu_s, faults) in zip(session.commands, truth, strict=True):
        assert use.cpu_ns is not None
        assert use.faults_minor is not None
        assert use.elapsed_ns is not None
        assert use.processes == 2  # the worker and cat
        assert cpu_s <= use.cpu_ns / 1e9 <= cpu_s + 0.1
        assert faults <= use.faults_minor <= faults + 1000  # and those of cat, and of the end
        assert use.held_pages is not None
        assert use.held_pages >= 5000
        assert use.elapsed_ns >= 0.2e9
        assert use.read_bytes is not None
        assert use.written_bytes is not None
        assert min(use.read_bytes, use.written_bytes) >= 20_000
        assert use.think_ns is not None


@pytest.mark.parametrize("shell", [("sh", "-i"), ("bash", "--norc", "--noprofile", "-i")], ids=["sh", "bash"])
def test_a_think_time_is_that_between_the_prompt_and_the_end_of_the_line(
    tmp_path: Path, shell: tuple[str, ...]
) -> None:
    (tmp_path / "sleeper-b").symlink_to("/bin/sleep")
    pauses, lengths = (0.3, 0.6, 0.9), []
    with observer() as made, people(tmp_path, shell) as (person,):
        person.types("./sleeper-b 0")
        for pause_s in pauses:
            time.sleep(pause_s)
            began = time.monotonic()
            person.types("./sleeper-b 0.2")
            lengths.append(time.monotonic() - began)
        (session,) = lines_of(made, "sleeper-b").sessions
    for use, pause_s, length_s in zip(session.commands[1:], pauses, lengths, strict=True):
        assert use.think_ns is not None
        assert use.elapsed_ns is not None
        assert use.think_ns >= pause_s * 1e9
        assert 0.2e9 <= use.elapsed_ns <= length_s * 1e9


def test_nothing_that_was_typed_is_in_the_kernels_maps_or_in_any_output(tmp_path: Path) -> None:
    secrets = ("s3cretArgument", "mistypedPassw0rd", "ReadAnswer9", "TypedAhead7", "PathOfAnna")
    (tmp_path / "PathOfAnna").mkdir()
    (tmp_path / "PathOfAnna" / "tool-c").symlink_to("/bin/echo")
    with observer() as programs, people(tmp_path) as (person,):
        person.types("PathOfAnna/tool-c s3cretArgument")
        person.types("mistypedPassw0rd")
        person.types("TOKEN=s3cretArgument PathOfAnna/tool-c")
        person.terminal.send("bash -c 'echo asked; read answer'\r")
        person.terminal.expect_exact("asked\r\n")
        person.terminal.send("ReadAnswer9\r")
        person.waits_at_prompt()
        person.terminal.send("TypedAhead7")
        person.terminal.expect_exact("TypedAhead7")
        programs.gather()
        kept, gathered = programs.kept_bytes(), repr(programs.gathered()).encode()
        person.terminal.send("\x15")
    assert b"tool-c" in gathered
    assert len(kept) >= 176  # the session of this person is there
    for secret in secrets:
        assert secret.encode() not in kept
        assert secret.encode() not in gathered


@pytest.mark.parametrize("which", ["wanted", "left_out"])
def test_people_who_are_left_out_are_not_seen(tmp_path: Path, which: str) -> None:
    (tmp_path / "tool-d").symlink_to("/bin/true")
    tmp_path.chmod(0o777)
    nobody = (*NOBODY, "bash", "--norc", "--noprofile", "-i")
    chosen = ObservedPeople(wanted=frozenset({65534})) if which == "wanted" else ObservedPeople(left_out=frozenset({0}))
    with observer(chosen) as made, people(tmp_path, (), nobody) as present:
        for person in present:
            person.types("/bin/true; ./tool-d")
        assert {line["user"] for line in made.gathered()["lines"] if line["user"] in (0, 65534)} == {65534}


def test_a_shell_within_a_shell_is_a_session_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tool-e").symlink_to("/bin/true")
    with observer() as made, people(tmp_path) as (person,):
        person.types("./tool-e")
        person.types("bash --norc --noprofile -i")
        person.types("./tool-e")
        person.types("exit")
        person.types("./tool-e")
        lines = made.gathered()["lines"]
    mine = [line for line in lines if line["name"] == b"tool-e"]
    assert len(mine) == 3
    assert mine[0]["session"] == mine[2]["session"] != mine[1]["session"]
    assert [line["name"] for line in lines if line["has_shell_within"]] == [b"bash"]


def test_a_process_in_the_background_belongs_to_its_line(tmp_path: Path) -> None:
    (tmp_path / "tool-f").write_text("#!/usr/bin/python3 -IS\nimport time\nwhile time.process_time() < 0.2: pass\n")
    (tmp_path / "tool-f").chmod(0o755)
    with observer() as made, people(tmp_path) as (person,):
        person.types("./tool-f & true")
        person.types("wait")
        give_up = time.monotonic() + PATIENCE_S
        while sum(line["cpu_ns"] for line in made.gathered()["lines"] if line["name"] == b"tool-f") < 0.2e9:
            assert time.monotonic() < give_up
            time.sleep(LOOK_EVERY_S)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_observation_and_the_script_is_there(bench: Bench, ending: signal.Signals) -> None:
    running = bench.start("observe", "--for", "1h", "-o", "observed.toml")
    wait_for_programs(running)
    with people(bench.folder) as (person,):
        person.types("/bin/true s3cretArgument")
        person.types("/bin/true")
    programs = held_by(running.pid)
    running.send_signal(ending)
    told, complaints = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130
    assert "true" in told
    script = (bench.folder / "observed.toml").read_text()
    assert 'as = "true"' in script
    assert "s3cretArgument" not in script + told + complaints
    assert all_unloaded(programs)


def test_a_killed_observation_leaves_no_program_in_the_kernel(bench: Bench) -> None:
    running = bench.start("observe", "--for", "1h", "-o", "observed.toml")
    wait_for_programs(running)
    programs = held_by(running.pid)
    running.kill()
    running.communicate(timeout=PATIENCE_S)
    assert len(programs) == 4
    assert all_unloaded(programs)
    assert not (bench.folder / "observed.toml").exists()


def wait_for_programs(running: object) -> None:
    """Waits until loadgo has loaded its four programs."""
    give_up = time.monotonic() + PATIENCE_S
    while not holds_programs(running) or len(held_by(running.pid)) < 4:  # type: ignore[arg-type, attr-defined]
        assert time.monotonic() < give_up
        time.sleep(LOOK_EVERY_S)


def test_without_privilege_it_is_refused_with_the_remedy() -> None:
    told = subprocess.run(
        [*NOBODY, *COMMAND, "observe", "--for", "1s", "-o", "-"], cwd="/", capture_output=True, text=True, check=False
    )
    assert told.returncode == 2
    assert "log-in sessions cannot be observed: it takes root" in told.stderr
    assert "sudo loadgo" in told.stderr


def test_doctor_says_that_sessions_can_be_observed_here() -> None:
    assert [ability.state for ability in loadgo.doctor() if "log-in sessions" in ability.name] == ["exact"]


def test_memory_is_bounded_by_what_was_seen(tmp_path: Path) -> None:
    with observer() as made, people(tmp_path) as (person,):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(50):
            person.types("/bin/true")
            made.gather()
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_a_load_that_loadgo_drives_is_seen_as_its_own_records_have_it(tmp_path: Path) -> None:
    (tmp_path / "burn-g").write_text(WORKER)
    (tmp_path / "burn-g").chmod(0o755)
    script = tmp_path / "known.toml"
    typed = f'{{ type = "{tmp_path}/burn-g used", as = "burn-g" }}'
    script.write_text(f'passes = 4\nthink = "fixed(400ms)"\nlines = [{typed}]\n')
    with observer() as programs:
        run = loadgo.run(script, users=2, meters="none", out=tmp_path / "known")
        sessions = lines_of(programs, "burn-g").sessions
    rows = loadgo.tables(run).interactions
    seen = [use for session in sessions for use in session.commands]
    assert len(sessions) == 2
    assert len(seen) == len(rows) == 8
    mean_cpu_ns = sum(rows["cpu_user_ns"] + rows["cpu_system_ns"]) / len(rows)
    assert sum(use.cpu_ns or 0 for use in seen) / len(seen) == pytest.approx(mean_cpu_ns, rel=0.1)
    mean_faults = sum(rows["faults_minor"]) / len(rows)
    assert sum(use.faults_minor or 0 for use in seen) / len(seen) == pytest.approx(mean_faults, rel=0.1)
    observed_ns = [use.think_ns for use in seen if use.think_ns is not None]
    assert len(observed_ns) == 8
    drawn_ns = sum(rows["think_ns"])  # the first one of each user is a part of a think time
    assert sum(observed_ns) >= 0.9 * drawn_ns  # the driver may be late, and is never early
