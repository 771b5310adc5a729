"""Errors between this host and an agent on another: a class for each, and its text from the messages of ssh."""

from __future__ import annotations

import re
import signal
from enum import IntEnum

from loadgo.errors import Refused

MOST_SHOWN_CHARS = 600
SILENT_SSH = "ssh ended with its own status, 255, and without a word"
"""A clause on an ssh that printed no reason."""
SSH_FAILED_STATUS = 255
"""Exit status of ssh for its own failures; else it has that of the command."""


class NoAgent(Refused):
    """The other host cannot be reached, or the agent cannot be started there. The branches say why."""


class SshMissing(NoAgent):
    """There is no ssh on this host."""


class AgentNotInstalled(NoAgent):
    """This loadgo has no agent to bring."""


class HostKeyRefused(NoAgent):
    """ssh does not know the host's key, or knows another."""


class LoginRefused(NoAgent):
    """The host lets this user not in."""


class LoginUnfinished(NoAgent):
    """The log-in goes on and on: a question that nobody answers, or a shell that hangs."""


class HostUnreachable(NoAgent):
    """There is no connection to the host."""


class ConnectionDropped(HostUnreachable):
    """The other side ended the connection before it said who it is, as sshd does when too many log in at once."""


class SilentSsh(NoAgent):
    """An ssh failed, and printed nothing.

    With `LogLevel ERROR` it does so where the other side ends the connection while ssh says who it is. OpenSSH 9.2 did
    in 108 of 3,000 log-ins whose `ProxyCommand` ended at once.
    """


class ConnectionEnded(NoAgent):
    """The connection that all commands on the host share has ended after the log-in."""


class CommandEnded(NoAgent):
    """A command on the host was ended before it said anything, while the connection goes on."""


class WrongArchitecture(NoAgent):
    """The host is no Linux, or of another architecture than the agent."""


class FarDiskFull(NoAgent):
    """There is no room for the agent in its account on the host."""


class NotExecutable(NoAgent):
    """The host runs no programs from the account's cache."""


class DeliveryStalled(NoAgent):
    """The host takes no more of the agent's bytes, or does not come to the end of taking them."""


class SudoRefused(NoAgent):
    """`sudo` on the host asks for a password, or refuses."""


class AgentLost(Refused):
    """The agent ended, or its connection was cut, before its answer."""


class AgentSilent(AgentLost):
    """The agent does not answer any more."""


class WrongFrames(AgentLost):
    """The bytes from the host are none of an agent's."""


class Step(IntEnum):
    """The steps of bringing an agent, by the exit status with which the shell there names the one that failed."""

    FOLDER = 81
    WRITE = 82
    TRY = 83
    COMPARE = 84
    NAME = 85


_STEP_WORDS = {
    Step.FOLDER: "given a directory",
    Step.WRITE: "written",
    Step.TRY: "run",
    Step.COMPARE: "brought whole: its bytes there are not those that were sent",
    Step.NAME: "put into its place",
}


def shown(text: str | bytes) -> str:
    """The end of a text from another host, on one line, without what could steer a terminal."""
    plain = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    words = " ".join(plain.split())
    return "".join(char if char.isprintable() else "\ufffd" for char in words)[-MOST_SHOWN_CHARS:]


def shown_clause(text: str | bytes) -> str:
    """`shown`, without the full stops at the end, so that a colon or a comma may follow."""
    return shown(text).rstrip(". ")


_CHANGED_KEY_SIGNS = ("remote host identification has changed", "has changed and you have requested strict checking")
_OLD_KEY = re.compile(r"Offending (\S+ key in \S+)")
_NEW_KEY = re.compile(r"SHA256:\S+")
_NO_ANSWER_REMEDY = (
    "nothing answers there: see whether the host is up, whether a firewall lets this host through, and whether its "
    "sshd has another port (`ssh://HOST:PORT`)"
)
_CLOSED_REMEDY = (
    "something at this port ends the connection before the log-in: see that it is an sshd, and in its log why it does "
    "(`MaxStartups`, a ban after failed log-ins)"
)
_SSH_FAILURES: tuple[tuple[tuple[str, ...], type[NoAgent], str], ...] = (
    (
        ("host key verification failed", "host key is known for"),
        HostKeyRefused,
        "its key is not known here yet: log in once with `ssh` and compare the key with its administrator's",
    ),
    (
        ("permission denied", "too many authentication failures", "no supported authentication methods"),
        LoginRefused,
        "see that `ssh` logs in there from this terminal: a key in ssh-agent or `ssh-copy-id`, and the right user",
    ),
    (
        ("connection refused",),
        HostUnreachable,
        "no sshd answers at this port: see that one runs there, and whether it has another port (`ssh://HOST:PORT`)",
    ),
    (
        ("could not resolve",),
        HostUnreachable,
        "no host has this name: see how it is spelt, or give it an address in ~/.ssh/config or /etc/hosts",
    ),
    (
        ("no route to host", "network is unreachable"),
        HostUnreachable,
        "no way leads there: see that the host is up, and this host's own network (`ip route get ADDRESS`), such as a "
        "VPN that is not connected",
    ),
    (("timed out",), HostUnreachable, _NO_ANSWER_REMEDY),
    (("banner exchange", "kex_exchange", "ssh_exchange"), ConnectionDropped, _CLOSED_REMEDY),
    (("connection closed", "connection reset"), HostUnreachable, _CLOSED_REMEDY),
)


def ssh_failure(address: object, errors: str | bytes) -> NoAgent:
    """The error for an ssh that ended with its own status, by what it printed."""
    whole = errors.decode("utf-8", "replace") if isinstance(errors, bytes) else errors
    if any(sign in whole.lower() for sign in _CHANGED_KEY_SIGNS):
        return _changed_key(address, whole)
    text = shown_clause(whole)
    for signs, failure, remedy in _SSH_FAILURES:
        if any(sign in text.lower() for sign in signs):
            return failure(f"{address}: {text}: {remedy}")
    if not text:
        return SilentSsh(
            f"{address}: {SILENT_SSH}: see what `ssh -v` prints there; a `LogLevel` of QUIET in its configuration "
            "hides the reason, and ERROR some reasons"
        )
    return NoAgent(f"{address}: {text}: see that `ssh` logs in there and runs a command")


def connection_ended(address: object, status: int, errors: str | bytes) -> ConnectionEnded:
    """The error for commands there whose connection has ended, by the status and the messages of the ssh that held it.

    A negative status is the number of the signal that ended it.
    """
    remedy = (
        "see who ends processes of this account here"
        if status < 0
        else "see the log of its sshd, and whether the network between is steady"
    )
    return ConnectionEnded(
        f"{address}: the connection that all commands there share has ended: {master_end(status, errors)}: {remedy}, "
        "and try again"
    )


def master_end(status: int, errors: str | bytes) -> str:
    """A clause on the end of the ssh that held a connection."""
    how = f"was ended by {_signal_name(-status)}" if status < 0 else f"ended with status {status}"
    said = shown_clause(errors)
    return f"its ssh {how}{f' ({said})' if said else ' and printed nothing'}"


def command_ended(address: object) -> CommandEnded:
    """The error for a command there that ended without a status and a word, while the connection goes on."""
    return CommandEnded(
        f"{address}: a command there ended without a status and without a word, while the connection goes on: a signal "
        "ended it, such as the kernel's when memory is short (`dmesg` there tells that), or its sshd could not start "
        "it (its log tells that): try again"
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _changed_key(address: object, text: str) -> HostKeyRefused:
    """The error for a host with another key than the known one, without ssh's frame of signs."""
    old, new = _OLD_KEY.search(text), _NEW_KEY.search(text)
    known = f" ({shown(old[1])})" if old else ""
    shows = f"; it shows {shown(new[0])}" if new else ""
    return HostKeyRefused(
        f"{address}: its key is another than the one that is known here{known}{shows}: compare that with its "
        "administrator's, since it may be another host. If the host was installed anew, remove the old key with "
        "`ssh-keygen -R HOST`, and log in once with `ssh`"
    )


def delivery_stalled(address: object, sent_bytes: int, all_bytes: int, silence_s: float) -> DeliveryStalled:
    """The error for an agent of which the host took `sent_bytes` of `all_bytes`, and then nothing for `silence_s`."""
    taken = f"{sent_bytes:,} of {all_bytes:,} bytes were sent"
    return DeliveryStalled(
        f"{address}: loadgo's agent could not be copied there: {taken}, and nothing has moved for {silence_s:.0f} s: "
        "see whether a disk hangs there (`df ~/.cache`) or the network between, and try again"
    )


def delivery_failure(address: object, step: int, errors: str | bytes) -> NoAgent:
    """The error for an agent that could not be brought, by the step that failed (`delivery.Step`) and its messages."""
    text = shown_clause(errors)
    low = text.lower()
    if any(sign in low for sign in ("no space left", "quota exceeded", "file too large")):
        return FarDiskFull(
            f"{address}: there is no room for loadgo's agent: {text}: make room, or set XDG_CACHE_HOME for the account "
            "there to a directory that has some"
        )
    if any(sign in low for sign in ("exec format", "cannot execute binary")):
        return WrongArchitecture(
            f"{address}: loadgo's agent does not run there: {text}: use --on from a host of the same architecture"
        )
    if step == Step.TRY and "permission denied" in low:
        return NotExecutable(
            f"{address}: programs in the account's cache may not be run there (a mount with `noexec`?): {text}: set "
            "XDG_CACHE_HOME for the account there to a directory that allows programs"
        )
    words = next((words for number, words in _STEP_WORDS.items() if number == step), "brought")
    return NoAgent(f"{address}: loadgo's agent could not be {words}: {text or 'without a word'}")
