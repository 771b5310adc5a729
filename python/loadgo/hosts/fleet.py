"""A fleet: hosts that one run loads together, from a file such as `hosts.toml`, with the range of users of each.

The hosts that drive its users are named the same way, or in one text with commas between.

[[hosts]]
address = "ssh://login1"

[[hosts]]
name    = "big"
address = "ssh://ann@login2:2222"
weight  = 2
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument, Mistake
from loadgo.hosts.address import HERE_NAME, SSH_SCHEME, Address, ThisHost, parse_host
from loadgo.notation.file_shapes import list_shape, number_shape, table_shape, text_shape
from loadgo.notation.toml_text import meant_instead, parse_toml

MOST_HOSTS = 1000
MOST_FLEET_BYTES = 1 << 20
_WEIGHT_BOUNDS = (0, 1_000_000)
"""A host's weight is over the first number, and at most the second."""
_HOSTS_KEY = "hosts"
_NAME_PATTERN = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}"
_NAME = re.compile(_NAME_PATTERN)
_HOST_KEYS = {
    "name": text_shape("name of a host", f"^{_NAME_PATTERN}$"),
    "address": text_shape("address of a host", f"^({SSH_SCHEME}.|{HERE_NAME}$)"),
    "weight": number_shape(*_WEIGHT_BOUNDS, above_least=True),
}
FLEET_SHAPE = table_shape({_HOSTS_KEY: list_shape(table_shape(_HOST_KEYS, ["address"]), most=MOST_HOSTS)}, [_HOSTS_KEY])
"""The shape of a list of hosts."""
_HEADER = re.compile(r"^[ \t]*(\[\[\s*hosts\s*\]\])", re.MULTILINE)
_HAS_HOSTS = re.compile(r"^\s*(?:\[\[?\s*hosts?\s*\]|hosts?\s*=)", re.MULTILINE)
"""A list of hosts, also one with a slip of the pen. A machine file has neither key."""
_DRIVERS = "driven_from"
_DRIVERS_REMEDY = (
    "write names with commas between, such as gen1,ssh://ann@gen2:2222,here, or the path of a list of hosts"
)


@dataclass(frozen=True)
class FleetHost:
    """A host of a fleet."""

    name: str
    """The host's name in tables and reports."""
    address: Address
    weight: float
    """The host's share of the users, beside the weights of the others."""


@dataclass(frozen=True)
class UserRange:
    """The users of one host: all numbers from `first` to `last`."""

    first: int
    last: int

    @property
    def count(self) -> int:
        """Number of users."""
        return self.last - self.first + 1


def is_fleet(on: str) -> bool:
    """Whether the system `on` is the path of a list of hosts. A machine file has no hosts."""
    if not on.endswith(".toml"):
        return False
    try:
        with Path(on).open("rb") as file:
            text = file.read(MOST_FLEET_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    return _HAS_HOSTS.search(text) is not None


def refuse_fleet(on: str, instead: str) -> None:
    """Raises `BadArgument` if `on` is a list of hosts, for calls that take one host; `instead` is the remedy."""
    if is_fleet(on):
        raise BadArgument(
            f"`on={on}` is a list of hosts, which is for `run`, `capacity`, `ab`, `meter`, `watch`, `profile` and "
            f"`doctor`: {instead}"
        ).about("on")


def read_fleet(path: str, argument: str = "on") -> tuple[FleetHost, ...]:
    """The hosts in the file at `path`. Raises `Mistake` with line and column, and `BadArgument` if it is no text.

    The `argument` that names the file is `on`, or `driven_from`: then the address may be `here`.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_FLEET_BYTES + 1)
    except OSError as refusal:
        raise BadArgument(f"`{argument}={path}` cannot be read: {refusal.strerror}").about(argument) from refusal
    if len(content) > MOST_FLEET_BYTES:
        size = f"it is larger than {MOST_FLEET_BYTES >> 20} MB"
        raise BadArgument(f"`{argument}={path}` is no list of hosts: {size}").about(argument)
    try:
        return parse_fleet(content.decode(), with_here=argument != "on")
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1} of the file is not UTF-8"
        raise BadArgument(f"`{argument}={path}`: {byte}").about(argument) from error
    except Mistake as mistake:
        raise mistake.in_file(path) from None


def parse_fleet(text: str, *, with_here: bool = False) -> tuple[FleetHost, ...]:
    """The hosts in a file's text, in its order; `with_here`, this host may be one of them. Raises `Mistake`."""
    table = parse_toml(text)
    for key in table:
        if key != _HOSTS_KEY:
            raise _mistake(text, None, key, f"{key} is not known: a list of hosts has an entry [[hosts]] for each host")
    entries = table.get(_HOSTS_KEY)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise _mistake(
            text, None, _HOSTS_KEY, 'a list of hosts needs entries: write [[hosts]], and address = "ssh://HOST"'
        )
    if len(entries) > MOST_HOSTS:
        raise _mistake(
            text, MOST_HOSTS, "address", f"there are {len(entries):,} hosts; at most {MOST_HOSTS:,} are possible"
        )
    hosts: dict[str, FleetHost] = {}
    for number, entry in enumerate(entries):
        host = _host(text, number, entry, with_here=with_here)
        if host.name in hosts:
            key = "name" if "name" in entry else "address"
            raise _mistake(text, number, key, f'there are two hosts {host.name}: write name = "…" to tell them apart')
        hosts[host.name] = host
    return tuple(hosts.values())


def _host(text: str, number: int, entry: Mapping[str, Any], *, with_here: bool) -> FleetHost:
    """The host of the entry with this number, from 0."""
    for key in entry:
        if key not in _HOST_KEYS:
            raise _mistake(text, number, key, f"{key} is not known; {meant_instead(key, _HOST_KEYS)}")
    is_here = with_here and entry.get("address") == HERE_NAME
    address = ThisHost() if is_here else _address(text, number, entry)
    name = entry.get("name", address.host)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or (name == HERE_NAME and not is_here):
        key = "name" if "name" in entry else "address"
        right = 'write a name of letters, digits, dots and hyphens, such as name = "login1"'
        reserved = f" ({HERE_NAME} is this host)" if name == HERE_NAME else ""
        raise _mistake(text, number, key, f"{name!r} is no name for a host{reserved}: {right}")
    weight = entry.get("weight", 1)
    if not _is_weight(weight):
        right = "write a number over 0, such as weight = 2 for twice the users of a host with weight 1"
        raise _mistake(text, number, "weight", f"weight = {weight!r} is not possible: {right}")
    return FleetHost(name, address, weight)


def _is_weight(value: object) -> bool:
    least, most = _WEIGHT_BOUNDS
    return isinstance(value, int | float) and not isinstance(value, bool) and least < value <= most


def _address(text: str, number: int, entry: Mapping[str, Any]) -> Address:
    written = entry.get("address")
    if written is None:
        raise _mistake(text, number, "", 'the host has no address: write address = "ssh://HOST"')
    if not isinstance(written, str) or not written.startswith(SSH_SCHEME):
        meant = f"{SSH_SCHEME}{written}" if isinstance(written, str) and written else f"{SSH_SCHEME}HOST"
        raise _mistake(text, number, "address", f'address takes a host as --on does: write address = "{meant}"')
    try:
        address = parse_host(written)
    except BadArgument as wrong:
        message = str(wrong).replace(f"`on={written}`", f"address {written!r}").replace("`on`", "address")
        raise _mistake(text, number, "address", message) from None
    assert address is not None, "it has ssh's scheme"
    return address


def _mistake(text: str, number: int | None, key: str, message: str) -> Mistake:
    """A mistake at a key of the entry with this number, or at its head; without a number, at a key of the file."""
    headers = [match.start(1) for match in _HEADER.finditer(text)]
    begin, end = 0, len(text)
    if number is not None and number < len(headers):
        begin = headers[number]
        end = headers[number + 1] if number + 1 < len(headers) else end
    written = re.compile(rf"(?:^|[{{\[,])[ \t]*[\"']?({re.escape(key)})\b", re.MULTILINE)
    found = written.search(text, begin, end) if key else None
    at = found.start(1) if found else begin
    return Mistake(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), message)


def fewest_users(hosts: Sequence[FleetHost]) -> int:
    """The number of users from which on each host has users, whatever the number is."""
    weights = [Fraction(host.weight) for host in hosts]
    return math.ceil(sum(weights) / min(weights))


def user_ranges(hosts: Sequence[FleetHost], users: int) -> tuple[UserRange, ...]:
    """The users 1 to `users` in ranges by the hosts' weights. Raises `BadArgument` for a host without users.

    Each boundary is the exact share of the weights so far, rounded. So the ranges depend on nothing but the weights.
    """
    weights = [Fraction(host.weight) for host in hosts]
    ends = [int(users * so_far / sum(weights) + Fraction(1, 2)) for so_far in accumulate(weights)]
    ranges = tuple(UserRange(before + 1, end) for before, end in pairwise([0, *ends]))
    for host, users_here in zip(hosts, ranges, strict=True):
        if not users_here.count:
            raise BadArgument(
                f"`users={users}` are too few for {len(hosts)} hosts, and {host.name} has none: use more users, fewer "
                "hosts, or other weights"
            ).about("users")
    return ranges


def parse_driver_hosts(driven_from: Sequence[str] | str) -> tuple[FleetHost, ...]:
    """The hosts that `driven_from` names: `here`, hosts as ssh knows them, or the path of a list of hosts.

    Raises `BadArgument`, and `Mistake` for a list with one.
    """
    names = [driven_from] if isinstance(driven_from, str) else [str(name) for name in driven_from]
    if len(names) == 1 and names[0].endswith(".toml") and not names[0].startswith(SSH_SCHEME):
        return read_fleet(names[0], _DRIVERS)
    words = [word.strip() for name in names for word in name.split(",")]
    if not all(words):
        raise BadArgument(f"`{_DRIVERS}` has a name that is empty: {_DRIVERS_REMEDY}").about(_DRIVERS)
    hosts: dict[str, FleetHost] = {}
    for word in words:
        address = _named_address(word)
        if address.host in hosts:
            raise BadArgument(
                f"`{_DRIVERS}` names {address.host} twice: name it once, or write a list of hosts (hosts.toml) in "
                "which each has a name"
            ).about(_DRIVERS)
        hosts[address.host] = FleetHost(address.host, address, 1)
    if len(hosts) > MOST_HOSTS:
        raise BadArgument(f"`{_DRIVERS}` names {len(hosts):,} hosts: {MOST_HOSTS:,} are possible").about(_DRIVERS)
    return tuple(hosts.values())


def _named_address(word: str) -> Address:
    """The host of one name."""
    try:
        found = parse_host(word if word == HERE_NAME or word.startswith(SSH_SCHEME) else f"{SSH_SCHEME}{word}")
    except BadArgument:
        raise BadArgument(f"`{_DRIVERS}={word}` is no host: {_DRIVERS_REMEDY}").about(_DRIVERS) from None
    return ThisHost() if found is None else found
