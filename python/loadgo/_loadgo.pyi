"""The Rust half, as Python sees it; tests/project/test_package.py checks this file against the binary."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

__version__: str

def parse_script(text: str) -> dict[str, Any]:
    """What a script says, checked: name, login, passes, think, typing, needs, files, lines; raises `errors.Mistake`."""

def parse_machine(text: str, sets: Sequence[str]) -> dict[str, Any]:
    """What a machine file says with `sets` (KEY=VALUE): title, source, processors, commands, stores, load, text.

    Raises `errors.Mistake`; `ValueError` for a mistake in `sets`.
    """

def parse_think(text: str) -> str:
    """A law of think time as it is written in full; raises `ValueError`."""

def parse_law(text: str) -> dict[str, Any]:
    """Parses a law of a script or a machine file to kind, parameters, timed, least, most; raises `ValueError`.

    Amounts of a `timed` law are nanoseconds, with fractions; `least` and `most` are its bounds, or None.
    """

def parse_span(text: str) -> int:
    """A span of time in nanoseconds; raises `ValueError`."""

def parse_limit(text: str) -> None:
    """Checks what users may have; raises `ValueError`."""

def parse_until(text: str) -> str:
    """When a run has enough, as it is written in full; raises `ValueError`."""

def run_host(
    script_text: str,
    options: Mapping[str, Any],
    folder: str,
    told: Callable[[dict[str, Any]], bool] | None,
) -> dict[str, Any]:
    """Runs a script on this host into `folder`; `told` hears how it stands and stops it by returning False.

    Raises `errors.Mistake`, `errors.Refused`, `errors.BadRun`.
    """

def simulate(text: str, sets: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Simulates the machine of a file's text under its own load; options: users, until, seed, streams.

    Raises `errors.Mistake`, `errors.Refused`, `ValueError`; an interrupt ends it.
    """

def sweep(machines: Sequence[tuple[str, int]], until: str, threads: int) -> list[dict[str, Any]]:
    """Simulates each of (machine file's text, seed) over one stream; raises what `simulate` raises."""

def run_machine(
    script_text: str,
    options: Mapping[str, Any],
    folder: str,
    told: Callable[[dict[str, Any]], bool] | None,
) -> dict[str, Any]:
    """Runs a script on a simulated machine into `folder`, as `run_host` does on this host.

    Raises `errors.Mistake`, `errors.Refused`, `errors.BadRun`, `ValueError`.
    """

def table_columns() -> dict[str, list[tuple[str, str]]]:
    """The columns of each table of a run folder, in order: name and type, which docs/run-folder.md explains."""

def whole(path: str | PathLike[str]) -> tuple[int, int]:
    """The bytes at a stream's beginning that are whole batches, and the rows in them; raises `errors.BadRun`."""

def complete(folder: str | PathLike[str]) -> None:
    """Completes the folder of a run that was killed; raises `errors.BadRun`."""

def is_being_written(folder: str | PathLike[str]) -> bool:
    """True while a process holds the run's streams open for writing; raises `errors.BadRun`."""

class Growing:
    """A table's stream as it grows."""

    def __new__(cls, folder: str | PathLike[str], table: str) -> Growing: ...
    def news(self) -> bytes:
        """What has come since the last call, as an Arrow IPC stream; no bytes when that is nothing."""
    def ended(self) -> bool:
        """True when the stream's end has been read."""

def marks_prompts(shell: Sequence[str]) -> bool:
    """Whether the prompts of this shell can be marked."""

def record_session(
    shell: Sequence[str],
    env: Mapping[str, str],
    cast_path: str | PathLike[str] | None,
    login: str,
    name: str,
) -> Any:
    """Records a session on this process's terminal; raises `errors.Refused`."""

def script_of_cast(text: str, name: str | None, login: str | None) -> Any:
    """Makes a script of an asciicast file's text; raises `errors.Mistake`, `errors.Refused`."""

def probe() -> list[dict[str, Any]]:
    """One dict for each ability of this host: ability, state, how, why_not, remedy."""

class MeteredHost:
    """The kernel's meters of this host at work; raises `errors.Refused`, `errors.BadRun`, `ValueError`."""

    def __new__(cls, options: Mapping[str, Any]) -> MeteredHost: ...
    def running(self) -> int:
        """The id of the command that runs, 0 when none does."""
    def watch(self, told: Callable[[dict[str, Any]], bool], with_rows: bool) -> dict[str, Any]:
        """Meters until the time is up, the command has ended, or `told` returns False.

        outcome, exit_status, signal, notes.

        `told` hears at_s, and with a span's end its rows by table and what is lost, if it wants rows.
        """

class CommandMeter:
    """Runs commands one after the other under the best meter of this host; raises `errors.Refused`."""

    def __new__(cls) -> CommandMeter: ...
    def sources(self) -> dict[str, Any]:
        """Where the figures come from: cpu, faults, waits, cpu_resolution_ns, split, notes, groups."""
    def run(self, command: Sequence[str], input: bool, output: bool, cold: bool) -> dict[str, Any]:
        """Runs `command` once; raises `OSError` when it cannot be run."""
    def running(self) -> int:
        """The id of the command that runs, 0 when none does."""
    def close(self) -> list[str]:
        """Undoes what was made on the host for the meter. Returns what stays there."""

class LiveProfile:
    """A clock profile under way: of the host, or of what this thread starts (`children`). Raises `errors.Refused`."""

    def __new__(cls, hz: int, children: bool) -> LiveProfile: ...
    def notes(self) -> list[str]:
        """What could not be had, and why."""

    def sample(self) -> dict[str, Any]:
        """What was found since the last call.

        stacks (process, stack, samples) · segments (segment, faults_minor, faults_major, samples) ·
        build_ids (path, id) · lost (count, what). Raises `errors.Refused`.
        """

    def close(self) -> None:
        """Ends it."""

def transfer_columns() -> list[str]:
    """The columns of a batch host's table of transfers, in order."""

def transfer_methods() -> list[tuple[str, int, str | None]]:
    """The methods of a transfer by name, with the bytes that a call of each moves at most where nobody says."""

class Transfer:
    """One transfer, from this end."""

    def __new__(
        cls,
        to: str,
        *,
        method: str,
        receive: bool,
        size: int | None,
        message: int | None,
        token: str | None,
        from_file: str | PathLike[str] | None,
        into_file: str | PathLike[str] | None,
        time_s: float,
        stalled_s: float,
    ) -> Transfer:
        """Raises `errors.Refused` when `to` is no address, and `ValueError` for an unknown method."""

    def run(self) -> dict[str, Any]:
        """Makes it: `here`, `there` (None when the other end did not tell) and `note`. Raises `errors.Refused`."""

    def stop(self) -> None:
        """Ends it early, from another thread."""

class TransferServer:
    """The end that waits."""

    @property
    def address(self) -> str:
        """Where it listens, with the port that it got."""

    def __new__(
        cls,
        at: str,
        *,
        connections: int,
        size: int,
        total: int,
        time_s: float,
        stalled_s: float,
        token: str | None,
        keep_in: str | PathLike[str] | None,
        job_time_s: float,
        rows: str | PathLike[str] | None,
    ) -> TransferServer:
        """Listens at once. Raises `errors.Refused` when it cannot, or when `rows`, a table, cannot be written."""

    def serve(self, hears: Callable[[dict[str, Any] | None], bool]) -> None:
        """Serves until `hears` says False: it is told of every transfer, and called about three times a second."""

class TransferMeter:
    """Runs one command under the meters of this host, and follows its sockets; raises `errors.Refused`."""

    def __new__(cls) -> TransferMeter: ...
    def sources(self) -> dict[str, Any]:
        """As of `CommandMeter`, and `missing`: what of its sockets is not known, and why."""
    def run(self, command: Sequence[str]) -> dict[str, Any]:
        """Runs `command` once: run (as of `CommandMeter`), counted, why_not, load_5min.

        counted (None when not known): moved (by kind: numbers by name), interrupts (None, or nanoseconds and packets by
        name), held, unsent, lost, charges_the_interrupted. Raises `OSError` when it cannot be run.
        """
    def running(self) -> int:
        """The id of the command that runs, 0 when none does."""
    def close(self) -> list[str]:
        """Undoes what was made on the host for the meter. Returns what stays there."""
