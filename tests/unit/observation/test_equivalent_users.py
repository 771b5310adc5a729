"""The number of users of a script who are as busy as the people that were observed."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import loadgo
import pytest
from support.accounting_records import EPOCH_S, MadeSession, made_day, written_accounting, written_history

RECORDED = Path(__file__).parent.parent.parent / "recorded"


def history(path: Path, began_s: int, period_s: int, lines: int) -> Path:
    """A history of zsh: a line each `period_s`, which takes 2 s."""
    text = "".join(f": {began_s + period_s * number}:2;ls\n" for number in range(lines))
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("people", [1, 2, 5])
def test_people_who_type_at_the_same_time_are_as_many_users(tmp_path: Path, people: int) -> None:
    files = [history(tmp_path / str(number), EPOCH_S, 10, 100) for number in range(people)]
    assert loadgo.observe(*files).equivalent_users == pytest.approx(people, rel=0.02)


def test_people_who_type_one_after_the_other_are_one_user(tmp_path: Path) -> None:
    files = [history(tmp_path / str(number), EPOCH_S + 1000 * number, 10, 100) for number in range(3)]
    assert loadgo.observe(*files).equivalent_users == pytest.approx(1, rel=0.02)


def test_an_absence_makes_fewer_users(tmp_path: Path) -> None:
    files = [history(tmp_path / str(number), EPOCH_S + 3000 * number, 10, 100) for number in range(2)]
    assert loadgo.observe(*files).equivalent_users == pytest.approx(0.5, rel=0.02)


@pytest.mark.parametrize("record", ["sudo-io", "tlog.json"])
def test_one_recorded_person_is_one_user(record: str) -> None:
    assert loadgo.observe(RECORDED / record).equivalent_users == pytest.approx(1, rel=0.05)


def test_each_class_has_its_own_part(tmp_path: Path) -> None:
    records = written_accounting(tmp_path / "pacct", made_day())
    observation = loadgo.observe(records, think_from=written_history(tmp_path / "history"))
    assert observation.think is not None
    cycles_s = [row.count * ((row.elapsed_ns or 0) + observation.think.mean_ns) / 1e9 for row in observation.commands]
    assert observation.equivalent_users == pytest.approx(sum(cycles_s) / observation.span_s)


def test_without_think_times_the_number_is_not_known(tmp_path: Path) -> None:
    observation = loadgo.observe(written_accounting(tmp_path / "pacct", made_day()))
    assert observation.equivalent_users is None
    assert "as many commands" not in observation.report() + observation.text


def test_the_report_names_the_next_command_of_a_script_that_loads_a_host(tmp_path: Path) -> None:
    records, typed = written_accounting(tmp_path / "pacct", made_day()), written_history(tmp_path / "history")
    observation = loadgo.observe(records, think_from=typed, output=tmp_path / "a b.toml")
    report = " ".join(observation.report().split())
    assert f"`loadgo capacity '{tmp_path}/a b.toml' --target 'p90(git) < 2s' --max-users 40`" in report
    assert "users of the script type as many commands in this time." in report
    assert "users of this script type as many commands in this time." in " ".join(observation.text.split("\n#  "))
    assert tomllib.loads(observation.text)


@pytest.mark.parametrize(("editor_s", "edits", "target"), [
    (1800.0, 1, "p90 < 2s"),
    (1800.0, 6, "p90(ls) < 2s"),
    (1800.0, 20, "p90 < 3600s"),
])  # fmt: skip
def test_the_target_is_one_that_a_user_alone_meets(tmp_path: Path, editor_s: float, edits: int, target: str) -> None:
    session = MadeSession(1000)
    for number in range(20):
        is_edit = number < edits
        session.typed("vim" if is_edit else "ls", elapsed_s=editor_s if is_edit else 0.05)
    session.commands[-1] = replace(session.commands[-1], user_s=0.02)
    records = written_accounting(tmp_path / "pacct", session.processes())
    typed = written_history(tmp_path / "history")
    observation = loadgo.observe(records, think_from=typed, output=tmp_path / "monday.toml")
    assert f"--target '{target}' --max-users" in " ".join(observation.report().split())


def test_a_script_without_processor_times_is_doubted_and_searches_for_no_capacity(tmp_path: Path) -> None:
    observation = loadgo.observe(written_history(tmp_path / "history"), output=tmp_path / "monday.toml")
    report = " ".join(observation.report().split())
    assert "processor times are not known, so that the script uses next to none" in report
    assert "loadgo capacity" not in report
    assert "CPU is a mean" not in report
    assert "39 pauses, with the response and the typing in them: an upper bound" in report
