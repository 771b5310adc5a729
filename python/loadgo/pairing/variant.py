"""A variant of an experiment: a script on a system, with its limits, its settings and a command before each run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from loadgo.errors import Refused
from loadgo.hosts.address import SSH_SCHEME
from loadgo.hosts.fleet import is_fleet

MOST_ERROR_CHARS = 300
"""The error has at most this many characters of a failing command's output: the last ones."""


@dataclass(frozen=True)
class Variant:
    """A side of an experiment."""

    script: str | Path
    """A bundled script's name, or the path of a script."""
    on: str = "here"
    """`here`, `ssh://HOST`, the path of a list of hosts, a bundled machine's name, or the path of a machine file."""
    set: tuple[str, ...] = ()
    """Changes of the machine's values: `processors.speed=2`."""
    limit: str | None = None
    """Limits of all users of a host together: `memory=256M,cpus=1`."""
    before: str | None = None
    """A shell command that runs before each run of this variant. It is not measured."""
    login: str | None = None
    """The command that logs users in to this host, in place of the script's: `ssh host`, `su - guest`."""

    @property
    def is_on_other_host(self) -> bool:
        """Whether an agent meters the host that users log in to, or agents the hosts of a list."""
        return str(self.on).startswith(SSH_SCHEME) or is_fleet(str(self.on))

    @property
    def description(self) -> str:
        """The script, the system, and the settings that differ from the defaults, in one line."""
        parts = [str(self.script), *([] if self.on == "here" else [f"on {self.on}"])]
        parts += [*([f"login `{self.login}`"] if self.login else []), *self.set]
        parts += [f"limit {self.limit}"] if self.limit else []
        parts += [f"after `{self.before}`"] if self.before else []
        return ", ".join(parts)

    def prepare(self, letter: str) -> None:
        """Runs `before`. Raises `Refused` with the end of its output if it fails."""
        if self.before is None:
            return
        done = subprocess.run(
            ["sh", "-c", self.before], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
        )
        if done.returncode:
            output = (done.stderr.strip() or done.stdout.strip())[-MOST_ERROR_CHARS:]
            raise Refused(
                f"the command before each run of {letter}, `{self.before}`, ended with {done.returncode}"
                + (f": {output}" if output else "")
            )
