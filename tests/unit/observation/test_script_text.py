"""Scripts of observations: they parse, their jobs have the mean of what was seen, and what is open is said."""

from __future__ import annotations

import resource
import tomllib
from pathlib import Path

import loadgo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.errors import Refused
from loadgo.observation.classes import divide
from loadgo.observation.sessions import CommandUse, ObservedSession
from loadgo.observation.stand_in_jobs import MOST_JOBS, StandInJob, stand_in_jobs
from loadgo.running.prepared import line_count
from support.accounting_records import MadeSession, made_day, written_accounting
from support.command_line import typed

TICK_NS = 10_000_000


def use(ticks: int, elapsed_ticks: int = 0) -> CommandUse:
    return CommandUse("make", ticks * TICK_NS, 0, 100, 0, 1000, 1, (ticks + elapsed_ticks) * TICK_NS)


@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=300))
def test_the_jobs_of_a_command_have_its_mean_processor_time(drawn: list[tuple[int, int]]) -> None:
    uses = [use(*pair) for pair in drawn]
    jobs = stand_in_jobs(uses)
    assert 1 <= len(jobs) <= MOST_JOBS
    mean_ns = sum(each.cpu_ns or 0 for each in uses) / len(uses)
    assert sum(job.cpu_ns for job in jobs) / len(jobs) == pytest.approx(mean_ns)


def test_runs_without_processor_time_stay_without(tmp_path: Path) -> None:
    jobs = stand_in_jobs([use(0, k) for k in range(90)] + [use(100)] * 10)
    assert [job.cpu_ns for job in jobs] == [0] * 36 + [1e9] * 4


def test_a_script_has_each_class_with_its_commands_and_their_weights(tmp_path: Path) -> None:
    observation = loadgo.observe(written_accounting(tmp_path / "pacct", made_day()))
    script = tomllib.loads(observation.text)
    light, heavy = script["lines"][0]["choose"]
    assert (light["weight"], heavy["weight"]) == (16, 8)
    assert [group.name for group in observation.groups] == ["light", "heavy"]
    weights = {line["as"]: line["weight"] for line in heavy["choose"]}
    assert weights == {row.command: row.count for row in observation.commands if row.group == "heavy"}
    assert heavy["repeat"] == observation.groups[1].commands_per_session
    assert line_count(observation.text) > 0
    assert observation.text.startswith("# Made by `loadgo observe` of process accounting: ")
    assert str(Path(loadgo.__file__).parent) not in observation.text


def test_more_commands_than_a_class_may_have_are_one_called_other(tmp_path: Path) -> None:
    session = MadeSession(100)
    for number in range(60):
        session.typed(f"p{number}")
        if number < 20:
            session.typed(f"p{number}")
    observation = loadgo.observe(written_accounting(tmp_path / "pacct", session.processes()))
    names = [row.command for row in observation.commands]
    assert len(names) == 40
    assert names[0] == "other"
    assert sum(row.count for row in observation.commands) == 80


def test_sessions_alike_are_one_class_and_two_kinds_are_two() -> None:
    def session(ticks: int) -> ObservedSession:
        return ObservedSession(1000, 0, 60, (use(ticks), use(ticks)))

    assert len(divide([session(10 + k) for k in range(20)]).classes) == 1
    assert len(divide([session(5)] * 30).classes) == 1
    few = divide([session(1)] * 9 + [session(400)] * 9)
    assert (len(few.classes), few.reason) == (1, "one class, since two classes need 20 sessions or more")
    assert len(divide([session(42)] * 10 + [session(43)] * 10).classes) == 1
    two = divide([session(3 + k % 3) for k in range(20)] + [session(300 + k) for k in range(5)])
    assert [(part.name, len(part.sessions)) for part in two.classes] == [("light", 20), ("heavy", 5)]
    assert two.reason.startswith("two classes of sessions: the heavy ones use more than ")


def test_a_file_that_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    typed(tmp_path, "observe", "--from", records, "-o", "monday.toml")
    again = typed(tmp_path, "observe", "--from", records, "-o", "monday.toml", status=2)
    assert "monday.toml exists already" in again.stderr
    assert "--force" in again.stderr
    typed(tmp_path, "observe", "--from", records, "-o", "monday.toml", "--force")
    assert 'name    = "monday"' in (tmp_path / "monday.toml").read_text(encoding="utf-8")


def test_a_disk_that_does_not_take_the_script_is_named_and_keeps_no_part_of_it(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))  # Python ignores SIGXFSZ
    try:
        with pytest.raises(Refused, match=r"monday\.toml cannot be written .*: make room on its disk"):
            loadgo.observe(records, output=tmp_path / "monday.toml")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == [records]


def test_a_script_on_the_standard_output_stands_alone(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    told = typed(tmp_path, "observe", "--from", records, "-o", "-")
    assert tomllib.loads(told.stdout)["name"] == "observed"


def test_a_loss_is_a_bad_finding(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    records.write_bytes(records.read_bytes()[:-1])
    told = typed(tmp_path, "observe", "--from", records, "-o", "monday.toml", status=1)
    assert "ends within a record" in told.stderr
    assert (tmp_path / "monday.toml").exists()


def test_options_are_named_in_mistakes(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    told = typed(tmp_path, "observe", "--from", records, "--without-users", "nobody-here", status=2)
    assert "--without-users: this host has no account" in " ".join(told.stderr.split())


@pytest.mark.parametrize(("cpu_ns", "waiting_ns", "words"), [
    (2_650_000, 0, "0 0 237 600 4 0"),
    (2_650_000, 50_000_000, "0 0 237 600 2 0.05"),
    (100_000, 0, "0 0 237 600 1 0"),
    (0, 0, "0 0 237 600 7 0"),
    (12_000_000, 0, "0.012 0 237 600 7 0"),
])  # fmt: skip
def test_short_jobs_are_done_by_short_processes(cpu_ns: int, waiting_ns: int, words: str) -> None:
    assert StandInJob(cpu_ns, 0, 237, 600, 7, waiting_ns).in_words() == words
