"""Made-up runs of a metered command: fields that a test does not give are 0 or not measured."""

from dataclasses import replace

from loadgo.running.command_run import CommandRun, Wait4Usage

_RUN = CommandRun(
    stage="as it is",
    real_ns=10**9,
    cpu_user_ns=0,
    cpu_system_ns=0,
    faults_minor=0,
    faults_major=0,
    ready_wait_ns=0,
    paging_wait_ns=0,
    io_wait_ns=0,
    max_resident_bytes=None,
    waited=Wait4Usage(0, 0, 0, 0, 0, 0, 0),
    exit_status=0,
    signal=None,
    left_running=0,
    let_go=0,
    lost=0,
    cold=None,
    interrupted=False,
)


def command_run(**fields: object) -> CommandRun:
    """A run of one second that used nothing, except for these fields."""
    return replace(_RUN, **fields)  # type: ignore[arg-type]
