"""Addresses of other hosts, and the errors made of what ssh and shells print."""

import loadgo
import pytest
from loadgo.errors import BadArgument
from loadgo.hosts.address import Address, parse_host
from loadgo.hosts.failures import (
    ConnectionDropped,
    FarDiskFull,
    HostKeyRefused,
    HostUnreachable,
    LoginRefused,
    NoAgent,
    NotExecutable,
    SilentSsh,
    Step,
    WrongArchitecture,
    connection_ended,
    delivery_failure,
    shown,
    ssh_failure,
)


def test_here_is_no_other_host() -> None:
    assert parse_host("here") is None


@pytest.mark.parametrize(
    ("on", "words"),
    [
        ("ssh://login1", ["--", "login1"]),
        ("ssh://Login1/", ["--", "Login1"]),
        ("ssh://ann@login1:2222", ["-l", "ann", "-p", "2222", "--", "login1"]),
        ("ssh://ann@[fe80::1]:22", ["-l", "ann", "-p", "22", "--", "fe80::1"]),
    ],
)
def test_an_address_becomes_words_of_ssh(on: str, words: list[str]) -> None:
    address = parse_host(on)
    assert address is not None
    assert address.ssh_words == words
    assert parse_host(str(address)) == address


@pytest.mark.parametrize(
    "on",
    [
        "a b",
        "ssh://",
        "ssh://-oProxyCommand=x",
        "ssh://-l@h",
        "ssh://a b",
        "ssh://h:99999",
        "ssh://h/p",
    ],
)
def test_anything_else_is_refused_with_the_right_form(on: str) -> None:
    with pytest.raises(BadArgument, match="write `here`, or ssh://USER@HOST:PORT"):
        parse_host(on)


def test_a_bare_name_is_told_how_a_host_is_written() -> None:
    with pytest.raises(BadArgument, match="write ssh://login1 for the host login1"):
        parse_host("login1")


def test_a_password_in_an_address_is_refused() -> None:
    with pytest.raises(BadArgument, match="use a key"):
        parse_host("ssh://ann:secret@login1")


@pytest.mark.parametrize(
    ("printed", "failure"),
    [
        ("Host key verification failed.", HostKeyRefused),
        ("ann@login1: Permission denied (publickey).", LoginRefused),
        ("ssh: Could not resolve hostname login1: Name or service not known", HostUnreachable),
        ("kex_exchange_identification: read: Connection reset by peer", ConnectionDropped),
        ("Connection closed by 10.0.0.7 port 22", HostUnreachable),
        ("something new", NoAgent),
    ],
)
def test_the_error_of_ssh_is_the_branch_that_its_message_names(printed: str, failure: type[NoAgent]) -> None:
    error = ssh_failure(Address("login1"), printed)
    assert type(error) is failure
    assert f"login1: {printed.rstrip('.')}: " in str(error), "the remedy follows a colon"


def test_an_ssh_without_a_word_is_told_with_its_status_and_how_to_hear_more() -> None:
    error = ssh_failure(Address("login1"), "\r\n")
    assert type(error) is SilentSsh
    assert str(error).startswith("ssh://login1: ssh ended with its own status, 255, and without a word: see")


@pytest.mark.parametrize(
    ("status", "printed", "told"),
    [
        (-9, b"", "its ssh was ended by SIGKILL and printed nothing: see who ends processes of this account here"),
        (255, b"Timeout, server login1 not responding.\r\n", "(Timeout, server login1 not responding): see the log"),
        (-99, b"", "its ssh was ended by signal 99"),
    ],
)
def test_the_end_of_a_shared_connection_is_told_with_its_reason(status: int, printed: bytes, told: str) -> None:
    error = connection_ended(Address("login1"), status, printed)
    assert told in str(error)


def test_each_way_of_not_reaching_a_host_has_a_remedy_of_its_own() -> None:
    printed = (
        "ssh: Could not resolve hostname login1: Name or service not known",
        "ssh: connect to host login1 port 22: Connection refused",
        "ssh: connect to host login1 port 22: No route to host",
        "ssh: connect to host login1 port 22: Connection timed out",
        "kex_exchange_identification: Connection closed by remote host",
        "No ED25519 host key is known for login1.\nHost key verification failed.",
        CHANGED_KEY,
    )
    errors = [ssh_failure(Address("login1"), text) for text in printed]
    assert len({str(error).rpartition(": ")[2] for error in errors}) == len(printed)
    assert [type(error) for error in errors] == [HostUnreachable] * 4 + [ConnectionDropped] + [HostKeyRefused] * 2
    wrong_key = str(errors[-1])
    assert "its key is another than the one that is known here (ED25519 key in /root/.ssh/known_hosts:1)" in wrong_key
    assert "it shows SHA256:Xa1:" in wrong_key
    assert "@@" not in wrong_key


@pytest.mark.parametrize(
    ("step", "printed", "failure"),
    [
        (Step.WRITE, "cat: write error: No space left on device", FarDiskFull),
        (Step.FOLDER, "mkdir: cannot create directory: Disk quota exceeded", FarDiskFull),
        (Step.TRY, "sh: 1: /home/ann/.cache/loadgo/x: Permission denied", NotExecutable),
        (Step.TRY, "sh: 1: x: Exec format error", WrongArchitecture),
        (Step.FOLDER, "mkdir: cannot create directory: Permission denied", NoAgent),
    ],
)
def test_the_error_of_a_delivery_names_its_step(step: Step, printed: str, failure: type[NoAgent]) -> None:
    assert type(delivery_failure(Address("login1"), step, printed)) is failure


CHANGED_KEY = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
The fingerprint for the ED25519 key sent by the remote host is
SHA256:Xa1
Please contact your system administrator.
Offending ED25519 key in /root/.ssh/known_hosts:1
  remove with:
  ssh-keygen -f "/root/.ssh/known_hosts" -R "login1"
Host key for login1 has changed and you have requested strict checking.
Host key verification failed.
"""
"""The message of OpenSSH 9.2."""


def test_text_from_another_host_cannot_steer_a_terminal() -> None:
    assert shown(b"a\x1b[2J\nb\xff") == "a\ufffd[2J b\ufffd"
    assert len(shown("x" * 100_000)) == 600


def test_what_only_this_host_has_is_refused_for_another() -> None:
    with pytest.raises(BadArgument, match="a command is metered on this host alone"):
        loadgo.meter(["true"], on="ssh://login1")
    for call in (loadgo.meter, loadgo.doctor):
        with pytest.raises(BadArgument, match="`sudo` is for another host"):
            call(sudo=True)
