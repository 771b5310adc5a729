"""Runs with limits in a control group of an ordinary user, on a kernel that has control groups of version 2 alone."""

from __future__ import annotations

import pytest
from support import second_kernel
from support.second_kernel import MachineOutput

LIMITS = ["memory=64M", "memory=64M,cpus=1", "each memory=64M"]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> MachineOutput:
    """The machine's output. A missing emulator is a failure where it should be installed."""
    second_kernel.skip_if(second_kernel.missing(), "limits")
    return second_kernel.limited_output(tmp_path_factory.mktemp("second-kernel"))


def of(output: MachineOutput, limit: str, subject: str) -> str:
    """The result of one subject."""
    (result,) = [line[2] for line in output.lines if line[:2] == [limit, subject]]
    return result


def test_a_run_that_moved_into_a_group_of_its_own_ends_and_moves_back(output: MachineOutput) -> None:
    """The program beside the users is in the group too, which must be empty before the controller is enabled."""
    assert of(output, "memory=64M", "run") == "done, 3 lines, left behind [], in /session"


@pytest.mark.parametrize("limit", ["memory=64M", "each memory=64M"])
def test_what_the_kernel_killed_for_want_of_memory_is_counted(output: MachineOutput, limit: str) -> None:
    assert of(output, limit, "kills") == "users_memory_kills_end = 1"


def test_each_user_has_a_group_with_a_limit_below_the_runs(output: MachineOutput) -> None:
    """The controller is enabled for the users' groups too, in a group that holds no process itself."""
    assert of(output, "each memory=64M", "run") == "done, 3 lines, left behind [], in /session"


def test_a_refusal_after_the_move_is_told(output: MachineOutput) -> None:
    said = of(output, "memory=64M,cpus=1", "run")
    assert said.startswith("refused: ")
    assert "cannot enable the controller cpu" in said


@pytest.mark.parametrize("limit", LIMITS)
def test_no_signal_ends_the_process_and_no_group_is_left(output: MachineOutput, limit: str) -> None:
    assert of(output, limit, "signal") == "0"
    assert of(output, limit, "groups") == "0"
    assert of(output, limit, "controllers") == ""


def test_setting_the_time_of_day_changes_nothing_in_a_run(output: MachineOutput) -> None:
    """Somebody sets the clock an hour ahead, and then two hours back, while a user types twenty lines."""
    assert of(output, "clock", "steps") == "2"
    assert of(output, "clock", "run").startswith("done, 20 lines")
    assert int(of(output, "clock", "seconds")) < 300, "a line whose time ran out would take so long"


def test_a_response_under_a_quota_of_version_2_is_processor_time_and_throttled_time(output: MachineOutput) -> None:
    response_ns, cpu_ns, throttled_ns = (int(of(output, "quota", which)) for which in ("response", "cpu", "throttled"))
    assert of(output, "quota", "left") == "[]"
    assert throttled_ns > response_ns / 2, "a fifth of a processor is far less than it wants"
    assert cpu_ns + throttled_ns == pytest.approx(response_ns, rel=0.05)
