"""A terminal of an audit log: which programs its session's shell started, and which these started themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from loadgo.observation.command_limit import CommandLimit
from loadgo.observation.logs.log_read import CLOCK_STEP_NS, LoggedCommand, LoggedSession
from loadgo.observation.program_names import LOG_IN_NAMES, SHELL_NAMES, accounted_name

_MOST_MEMBERS = 1024
"""Processes of commands that are remembered, so that their children are no commands."""


@dataclass(frozen=True, slots=True)
class StartedProgram:
    """A program that began."""

    pid: int
    parent: int
    at_ns: int
    name: bytes
    file: bytes
    """The name of its file: of a shell's script that of the shell."""

    @property
    def is_shell(self) -> bool:
        """Whether it is a shell, and no script that a shell reads."""
        names = {self.name.lstrip(b"-").decode("ascii", "replace"), self.file.decode("ascii", "replace")}
        return names <= SHELL_NAMES

    @property
    def is_log_in(self) -> bool:
        """Whether it is a program that starts a session's shell, such as `su`."""
        return self.name.decode("ascii", "replace") in LOG_IN_NAMES


@dataclass
class AuditTerminal:
    """A session's terminal while the log is read.

    Its shell is the first program there, or is started there by a log-in program. If the shell began before the log,
    it is the parent of the first program. A first shell whose own parent then starts programs is a command itself.
    """

    person: str
    limit: CommandLimit
    commands: list[LoggedCommand] = field(default_factory=list)
    orphans: int = 0
    _shell_pid: int | None = None
    _opener: StartedProgram | None = None
    """The first shell or log-in program. If its parent starts another program, it was a command itself."""
    _latest_ns: int = 0
    _members: dict[int, None] = field(default_factory=dict)
    """The processes of commands, the oldest first."""

    def is_clock_set_back(self, at_ns: int) -> bool:
        """Whether a program that began at `at_ns` is earlier than the one before it."""
        return at_ns < self._latest_ns - CLOCK_STEP_NS

    def continued(self) -> AuditTerminal:
        """The same terminal behind a clock step, without its commands."""
        terminal = AuditTerminal(self.person, self.limit)
        terminal._shell_pid, terminal._opener, terminal._members = self._shell_pid, self._opener, self._members
        return terminal

    def session(self) -> LoggedSession | None:
        """The session; None without commands."""
        if not self.commands:
            return None
        commands = tuple(sorted(self.commands, key=lambda command: command.began_ns))
        return LoggedSession(self.person, commands[0].began_ns, commands[-1].began_ns, commands)

    def start(self, program: StartedProgram) -> None:
        """Takes a program that began."""
        self._latest_ns = max(self._latest_ns, program.at_ns)
        if self._shell_pid is None and not self._finds_shell(program):
            return
        if program.pid == self._shell_pid:
            return
        if self._opener is not None and program.parent == self._opener.parent:
            self._shell_pid = program.parent
            self._add(self._opener)
            self._opener = None
        if program.pid in self._members:
            return
        if program.parent == self._shell_pid:
            self._add(program)
        elif program.parent in self._members:
            self._remember(program.pid)
        else:
            self.orphans += 1

    def _finds_shell(self, program: StartedProgram) -> bool:
        """Whether the session's shell is known with this program."""
        if program.is_shell:
            self._shell_pid, self._opener = program.pid, self._opener or program
        elif self._opener is not None and program.parent == self._opener.pid:
            self._shell_pid = self._opener.parent
            self._add(self._opener)
            self._opener = None
            self._remember(program.pid)
        elif program.is_log_in and self._opener is None:
            self._opener = program
        else:
            self._shell_pid = program.parent
        return self._shell_pid is not None

    def _add(self, program: StartedProgram) -> None:
        self.limit.count()
        self.commands.append(LoggedCommand(accounted_name(program.name), program.at_ns))
        self._remember(program.pid)

    def _remember(self, pid: int) -> None:
        self._members.pop(pid, None)
        self._members[pid] = None
        if len(self._members) > _MOST_MEMBERS:
            del self._members[next(iter(self._members))]
