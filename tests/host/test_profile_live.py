"""The live profile against programs whose time and page faults are known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from math import sqrt
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest
from loadgo.errors import Refused
from loadgo.profiling.profile import Profile, profile
from support.outside import NEEDS_FULL_DEVICE, PATIENCE_S, stolen_ns
from support.places import TESTS

HERE = TESTS / "support"
PAGES = 400


@pytest.fixture(scope="module")
def known_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built by the compiler that every build of loadgo links with, beside its library."""
    folder = tmp_path_factory.mktemp("known")
    flags = ["-O1", "-fno-omit-frame-pointer", "-g0"]
    library = ["cc", *flags, "-shared", "-fPIC", "-o", folder / "libknown.so", HERE / "known_library.c"]
    program = ["cc", *flags, "-o", folder / "known_work", HERE / "known_work.c", "-L", folder, "-lknown"]
    subprocess.run(library, check=True)
    subprocess.run([*program, f"-Wl,-rpath,{folder}"], check=True)
    return folder / "known_work"


def printed_counts(captured: str) -> dict[str, int]:
    """The figures that the program prints about itself."""
    return {name: int(count) for name, count in (line.split() for line in captured.splitlines() if " " in line)}


def samples_with(clock_profile: Profile, function: str) -> int:
    """Samples with the function anywhere on the stack."""
    return sum(
        stack.samples for stack in clock_profile.stacks if any(frame.function == function for frame in stack.frames)
    )


def test_shares_of_two_functions_and_a_library_are_within_the_sampling_error(
    known_program: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = stolen_ns()
    clock_profile = profile([str(known_program), "spin", "600", "300", "300"], hz=1000)
    stolen_ms = (stolen_ns() - before) / 1e6
    spent = printed_counts(capfd.readouterr().out)
    assert clock_profile.status == 0
    counts = {
        "one_function": samples_with(clock_profile, "one_function"),
        "another_function": samples_with(clock_profile, "another_function"),
    }
    counts["library"] = samples_with(clock_profile, "spin_in_library")
    samples, time = sum(counts.values()), sum(spent.values())
    assert samples > 1100 - stolen_ms  # of 1200 ms of processor time at 1 kHz, where no hypervisor has the processor
    for name, count in counts.items():
        share = spent[name] / time
        # A function has its time, and no samples, while the processor is stolen from it.
        assert abs(count / samples - share) < 4 * sqrt(share * (1 - share) / samples) + 1e6 * stolen_ms / time, name


def test_the_library_is_a_segment_of_its_own(known_program: Path) -> None:
    clock_profile = profile([str(known_program), "spin", "50", "50", "300"], hz=1000)
    samples = {segment.name: segment.samples or 0 for segment in clock_profile.segments}
    assert samples[str(known_program.parent / "libknown.so")] > samples[str(known_program)] > 0
    assert clock_profile.build_ids[str(known_program)] == build_id(known_program)


def build_id(path: Path) -> str:
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return next(line.split()[-1] for line in notes.splitlines() if "Build ID" in line)


@pytest.mark.parametrize("turn", range(3))
def test_page_faults_by_segment_are_those_of_rusage(
    known_program: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], turn: int
) -> None:
    file = tmp_path / "mapped"
    file.write_bytes(bytes(4096) * PAGES)
    clock_profile = profile([str(known_program), "touch", str(file), str(PAGES)], hz=100)
    counted = {
        segment.name: (segment.faults_minor or 0) + (segment.faults_major or 0) for segment in clock_profile.segments
    }
    rusage = printed_counts(capfd.readouterr().out)
    assert counted[str(file)] == rusage[str(file)] == PAGES
    for name in ("[anon]", "[heap]", "[stack]"):
        assert rusage[name] >= PAGES - 8, name  # of a stack some pages were there before
        assert rusage[name] <= counted[name] <= rusage[name] + 60, name  # the loader's and the library's own
    assert not clock_profile.lost


def test_a_thousand_short_processes_find_their_segments() -> None:
    # They make ten megabytes of records a second. On a busy host the profiler may come too late for some, and says so.
    for _ in range(5):
        before = getrusage(RUSAGE_CHILDREN).ru_minflt
        clock_profile = profile(["sh", "-c", "for i in $(seq 1000); do /bin/true; done"], hz=1000)
        minor = getrusage(RUSAGE_CHILDREN).ru_minflt - before
        if not clock_profile.lost:
            break
    faults = {segment.name: segment.faults_minor or 0 for segment in clock_profile.segments}
    print(minor, sum(faults.values()), faults)
    assert 0.95 * minor < sum(faults.values()) < 1.05 * minor
    assert faults.get("[unknown]", 0) < 0.001 * minor  # reading samples' stacks faults too, and brings no page
    unknown = sum(segment.samples or 0 for segment in clock_profile.segments if segment.name == "[unknown]")
    assert unknown < 0.01 * clock_profile.samples
    assert not clock_profile.lost


def test_the_status_is_the_commands() -> None:
    assert profile(["sh", "-c", "exit 7"]).status == 7


def test_a_command_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match="no-such-program: no such program"):
        profile(["no-such-program"])


def test_without_privilege_a_command_is_profiled_without_the_kernel(known_program: Path) -> None:
    if os.geteuid():
        pytest.skip(
            "only root can give its privileges away; everybody else has none, and every other test here is this one"
        )
    paranoid = Path("/proc/sys/kernel/perf_event_paranoid").read_text().strip()
    if int(paranoid) > 2:
        pytest.skip(f"kernel.perf_event_paranoid is {paranoid}: nobody may profile without privileges")
    program = f"""
from loadgo.errors import Refused
from loadgo.profiling.profile import profile
try:
    profile(duration=0.1)
except Refused as refusal:
    assert "takes root" in str(refusal) and "loadgo profile -- COMMAND" in str(refusal), refusal
else:
    assert {paranoid} <= 0, "the whole host was profiled without privilege"
made = profile([{str(known_program)!r}, "spin", "100", "100", "300"])
assert sum(stack.samples for stack in made.stacks if stack.frames[-1].function == "spin_in_library") > 50, made
assert not any(segment.name == "[kernel]" for segment in made.segments)
assert any("kernel's part is not here: it takes root, or CAP_PERFMON" in note for note in made.notes), made.notes
assert not any("kptr_restrict" in note for note in made.notes), made.notes
assert sum(segment.faults_minor or 0 for segment in made.segments) > 50
"""
    result = subprocess.run(
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert result.returncode == 0, result.stderr


def test_signals_are_the_commands_whose_status_is_told() -> None:
    trap = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.1; done"
    command = [sys.executable, "-m", "loadgo", "profile", "--", "sh", "-c", trap]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as profiling:
        assert profiling.stdout is not None
        assert profiling.stdout.readline() == "ready\n"
        profiling.send_signal(signal.SIGTERM)
        _, told = profiling.communicate(timeout=PATIENCE_S)
    assert profiling.returncode == 9
    assert "Clock profile" in told


def test_a_program_that_is_not_there_is_127() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "loadgo", "profile", "--", "/nonexistent"], capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (127, "loadgo: /nonexistent: no such program\n")


@NEEDS_FULL_DEVICE
@pytest.mark.parametrize(("command_status", "status"), [(7, 7), (0, 2)])
def test_an_output_that_fails_costs_neither_the_others_nor_the_commands_status(
    command_status: int, status: int, tmp_path: Path
) -> None:
    files = ("--folded", "/dev/full", "--speedscope", tmp_path / "s.json", "--pprof", tmp_path / "p.pb.gz")
    work = f"i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; exit {command_status}"
    command = [sys.executable, "-m", "loadgo", "profile", *files, "-o", "/dev/full", "--", "sh", "-c", work]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stderr.count("/dev/full: No space left on device")) == (status, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.pb.gz", "s.json"]
