"""The extension module in Rust; tests/project/test_package.py checks this file against the binary."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

__version__: str
LOG_OUT_PAUSE_NS: int
"""Time from a user's last answer to the log-out, where an agent reads the sessions' accounts."""
USAGE_COLUMNS: tuple[str, ...]
"""The columns of what processes used, in the order of the tables."""
WAIT4_FIGURES: tuple[str, ...]
"""The figures of `wait4` for a command."""

def say_at_abort(text: str, status: int) -> None:
    """Lets an abort, or an `exit` by a library, say `text` on the standard error and end this process with `status`."""

def end_by_itself() -> None:
    """Lets this process end by `exit` without the words of `say_at_abort`."""

def script_schema(title: str, description: str) -> str: ...
def machine_schema(title: str, description: str) -> str: ...
def parse_script(text: str) -> dict[str, Any]:
    """Parses and checks a script: name, login, passes, think, typing, needs, files, lines. Raises `errors.Mistake`."""

def parse_machine(text: str, sets: Sequence[str]) -> dict[str, Any]:
    """Parses a machine file with `sets` (KEY=VALUE): title, source, processors, commands, stores, load, text.

    Raises `errors.Mistake`; `ValueError` for a mistake in `sets`.
    """

def parse_think(text: str) -> str:
    """Parses a law of think time, and returns it as it is written in full. Raises `ValueError`."""

def parse_law(text: str) -> dict[str, Any]:
    """Parses a law of a script or a machine file to kind, parameters, timed, least, most; raises `ValueError`.

    Amounts of a `timed` law are nanoseconds, with fractions; `least` and `most` are its bounds, or None.
    """

def parse_span(text: str) -> int:
    """Parses a span of time to nanoseconds. Raises `ValueError`."""

def parse_limit(text: str) -> dict[str, Any]:
    """Checks the limits of users. Raises `ValueError`."""

def parse_limit_each(text: str) -> dict[str, Any]:
    """Checks the limits of each user. Raises `ValueError`."""

def parse_until(text: str) -> str:
    """Parses a stop rule, and returns it as it is written in full. Raises `ValueError`."""

class UsersToGiveUp:
    """Users who are given up while a run goes on: its option `given_up`."""

    def __new__(cls) -> UsersToGiveUp: ...
    def add(self, first: int, last: int, reason: str) -> None:
        """Ends the sessions of the users `first` to `last`. Those who are not logged in yet will not be."""

    def taken(self) -> list[tuple[int, int, str]]:
        """The ranges of users who were given up since the last call: first, last and the reason."""

class RunFolder:
    """The folder of a run whose users are driven on other hosts, locked until it is closed.

    Raises what `run_host` raises for its script and its options.
    """

    def __new__(cls, script_text: str, options: Mapping[str, Any], folder: str) -> RunFolder: ...
    def origin_ns(self) -> int:
        """The beginning of the run on the monotonic clock, in nanoseconds."""
    def interactions_expected(self) -> int | None:
        """Number of interactions of the whole run, if it is known beforehand."""
    def close(self) -> None:
        """Says that the folder is complete."""

def run_host(
    script_text: str,
    options: Mapping[str, Any],
    folder: str,
    report: Callable[[dict[str, Any]], bool] | None,
) -> dict[str, Any]:
    """Runs a script on this host into `folder`. `report` gets the progress, and stops the run by returning False.

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
    report: Callable[[dict[str, Any]], bool] | None,
) -> dict[str, Any]:
    """Runs a script on a simulated machine into `folder`, as `run_host` does on this host.

    Raises `errors.Mistake`, `errors.Refused`, `errors.BadRun`, `ValueError`.
    """

def table_columns() -> dict[str, list[tuple[str, str]]]:
    """The columns of each table of a run folder, in order: name and type, which docs/run-folder.md explains."""

def whole(path: str | PathLike[str]) -> tuple[int, int, str | None]:
    """Size of a stream's complete batches, and what is behind: (bytes, rows, words or None). Raises `errors.BadRun`."""

def file_checksum(path: str | PathLike[str]) -> tuple[int, int]:
    """The size and the CRC-32 of a file, as `run.toml` has them of each table. Raises `OSError`."""

def complete(folder: str | PathLike[str]) -> None:
    """Completes the folder of a run that was killed; raises `errors.BadRun`."""

def is_being_written(folder: str | PathLike[str]) -> bool:
    """True while a process holds the run's streams open for writing; raises `errors.BadRun`."""

class Growing:
    """A table's stream as it grows."""

    def __new__(cls, folder: str | PathLike[str], table: str) -> Growing: ...
    def news(self) -> bytes:
        """The new rows since the last call, as an Arrow IPC stream; no bytes if there are none."""
    def ended(self) -> bool:
        """True when the stream's end has been read."""

def marks_prompts(shell: Sequence[str]) -> bool:
    """Whether the prompts of this shell can be marked."""

def record_session(
    shell: Sequence[str],
    variables: Mapping[str, str],
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
        """The id of the running command; 0 if there is none."""
    def watch(self, report: Callable[[dict[str, Any]], bool], with_rows: bool) -> dict[str, Any]:
        """Meters until the time is up, the command has ended, or `report` returns False.

        Returns outcome, exit_status, signal, notes, left_behind.

        `report` gets at_s. At the end of a span it also gets the rows by table and the losses, if `with_rows`.
        """

class SessionObserver:
    """This host's log-in sessions, observed until `close`; raises `errors.Refused`."""

    def __new__(cls, wanted: Sequence[int], left_out: Sequence[int]) -> SessionObserver: ...
    def gather(self) -> tuple[int, int, int]:
        """Gathers what happened. Returns the numbers of lines, of sessions, and of open sessions."""
    def gathered(self) -> dict[str, Any]:
        """The lines, each a dict of figures and its name; unfinished, strays, losses (count, what), now_ns."""
    def kept_bytes(self) -> bytes:
        """All bytes that the kernel's programs keep of sessions."""
    def close(self) -> None:
        """Ends the observation."""

class AgentFrames:
    """Takes frames out of the stream of an agent on another host."""

    def __new__(cls) -> AgentFrames: ...
    def feed(self, bytes: bytes) -> list[tuple[str, bytes]]:
        """The frames that these bytes complete, each its kind and its body; raises `errors.Refused`."""
    def is_between_frames(self) -> bool:
        """Whether the stream may end here."""
    def text_before_greeting(self) -> str:
        """The text that came in place of the greeting; empty after the greeting."""

class AgentRecords:
    """A run folder here that is written from an agent's frames; raises `errors.BadRun`."""

    def __new__(cls, folder: str | PathLike[str], run_toml: bytes) -> AgentRecords: ...
    def append(self, body: bytes) -> None:
        """Appends the body of a frame of the kind `table`."""
    def finish(self, run_toml: bytes) -> None:
        """Completes the folder with the agent's last `run.toml`."""
    def break_off(self, note: str) -> None:
        """Completes the folder after the agent was lost, with a note about the loss."""

def agent_frame(kind: str, body: bytes) -> bytes:
    """The frame of a controller: `request`, `beat`, `clock`, `stop`, `order`, `next-lines`; raises `ValueError`."""

class CommandMeter:
    """Runs commands one after the other under the best meter of this host; raises `errors.Refused`."""

    def __new__(cls) -> CommandMeter: ...
    def sources(self) -> dict[str, Any]:
        """Sources of the figures: cpu, faults, waits, cpu_resolution_ns, split, notes, groups."""
    def run(self, command: Sequence[str], input: bool, output: bool, cold: bool) -> dict[str, Any]:
        """Runs `command` once; raises `OSError` when it cannot be run."""
    def running(self) -> int:
        """The id of the running command; 0 if there is none."""
    def close(self) -> list[str]:
        """Undoes the meter's changes on the host. Returns sentences about things that stay there."""

class LiveProfile:
    """A clock profile of the host, or of the programs that this thread starts (`children`). Raises `errors.Refused`."""

    def __new__(cls, hz: int, children: bool) -> LiveProfile: ...
    def notes(self) -> list[str]:
        """Notes about measurements that are not available, with the reason."""

    def sample(self) -> dict[str, Any]:
        """The rows since the last call.

        stacks (process, stack, samples) · segments (segment, faults_minor, faults_major, samples) ·
        build_ids (path, id) · lost (count, what). Raises `errors.Refused`.
        """

    def close(self) -> None:
        """Ends the profile."""

def transfer_columns() -> list[str]:
    """The columns of a batch host's table of transfers, in order."""

def transfer_methods() -> list[tuple[str, int, str | None]]:
    """The methods by name, with the default of `message`, and the reason if this host cannot use the method."""

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
        """Raises `errors.Refused` if `to` is no address, and `ValueError` for an unknown method."""

    def run(self) -> dict[str, Any]:
        """Makes the transfer: `here`, `there` (None if not sent) and `note`. Raises `errors.Refused`."""

    def stop(self) -> None:
        """Ends the transfer early, from another thread."""

class TransferServer:
    """The end of a transfer that waits for the other."""

    @property
    def address(self) -> str:
        """Address at which the server listens, with its port."""

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
        """Listens at once. Raises `errors.Refused` if it cannot, or cannot write `keep_in` or the table `rows`."""

    def serve(self, report: Callable[[dict[str, Any] | None], bool]) -> None:
        """Serves until `report` returns False. Calls it with each transfer's end, and about three times a second."""

class TransferMeter:
    """Runs one command under the meters of this host, and follows its sockets; raises `errors.Refused`."""

    def __new__(cls) -> TransferMeter: ...
    def sources(self) -> dict[str, Any]:
        """As of `CommandMeter`, and `missing`: a sentence for each fact about the sockets that is not known."""
    def run(self, command: Sequence[str]) -> dict[str, Any]:
        """Runs `command` once: run (as of `CommandMeter`), counted, why_not, load_5min.

        counted (None if not known): moved (by kind: numbers by name), interrupts (None, or nanoseconds and packets by
        name), held, unsent, lost, charges_the_interrupted. Raises `OSError` when it cannot be run.
        """
    def running(self) -> int:
        """The id of the running command; 0 if there is none."""
    def close(self) -> list[str]:
        """Undoes the meter's changes on the host. Returns sentences about things that stay there."""
