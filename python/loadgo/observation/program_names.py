"""Names of programs as scripts and reports have them: never a text that a person typed, and hashed where asked for.

A history has whatever was typed at a prompt, a password by mistake too. So the first word of a line is kept only if a
program of the system or a command of the shell has this name. Names in process accounting are those of files that ran.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Literal


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NamesKept = Literal["all", "none"]
OTHER_NAME = "other"
"""The name of all programs whose own name is not kept."""
SUBSHELL_NAME = "subshell"
"""The name of a part of a line that the shell ran by itself, in a process of its own."""
SHELL_NAMES = _words("ash bash csh dash fish ksh ksh93 mksh rbash sh tcsh zsh")
LOG_IN_NAMES = _words("doas login runuser sshd sshd-session su sudo")
"""Programs that a session's shell may be started by, at the same terminal."""
JOB_STARTER_NAMES = LOG_IN_NAMES | _words("CRON _sd-pam_ anacron at atd cron crond pbs_mom slurmstepd systemd")
"""Programs that batch jobs may be started by. Signs that are rare in names are `_`, as in `accounted_name`."""
_KEY_BYTES = 32
_HASH_CHARS = 8
_SYSTEM_FOLDERS = _words("/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin /usr/games")
_SHELL_COMMANDS = _words(
    """. : [ alias autoload bg bind bindkey break builtin case cd command compgen complete continue declare dirs disown
    do done echo else emulate enable esac eval exec exit export false fc fg fi for function getopts hash help history if
    jobs kill let local logout mapfile popd printf pushd pwd read readonly return select set setopt shift shopt source
    suspend test then time times trap true type typeset ulimit umask unalias unset unsetopt until wait where whence
    which while"""
)
_PLAIN = re.compile(rb"[A-Za-z0-9_.:\[][A-Za-z0-9_.+:@\[-]{0,63}\Z")
_ASSIGNMENT = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*\+?=")
_UNUSUAL = re.compile(r"[^A-Za-z0-9_.+@-]")

KeepName = Callable[[str], str]
"""A function from a program's name to the name that is kept."""


def name_keeper(names: NamesKept) -> KeepName:
    """The function for `names`. With `none` it hashes them, with a key that nothing keeps."""
    if names == "all":
        return lambda name: name
    key = os.urandom(_KEY_BYTES)

    def hashed(name: str) -> str:
        if name in (OTHER_NAME, SUBSHELL_NAME):
            return name
        return "program-" + hmac.new(key, name.encode(), hashlib.sha256).hexdigest()[:_HASH_CHARS]

    return hashed


@cache
def accounted_name(command: bytes) -> str:
    """The name of a program in a record of process accounting; signs that are rare in names become `_`."""
    text = command.partition(b"\0")[0].decode("ascii", "replace")
    return _UNUSUAL.sub("_", text) or OTHER_NAME


def typed_name(line: bytes, known: frozenset[str]) -> str:
    """The program or the shell's command that a typed line begins with, if it is `known`; else `OTHER_NAME`."""
    word = next((word for word in line.split() if not _ASSIGNMENT.match(word)), b"")
    name = word.rpartition(b"/")[2]
    if not _PLAIN.match(name):
        return OTHER_NAME
    text = name.decode("ascii")
    return text if text in known else OTHER_NAME


def known_names() -> frozenset[str]:
    """The names of the programs in the system's folders of this host, and of the shells' own commands."""
    names = set(_SHELL_COMMANDS)
    for folder in _SYSTEM_FOLDERS:
        with suppress(OSError):
            names.update(os.listdir(folder))
    return frozenset(names)
