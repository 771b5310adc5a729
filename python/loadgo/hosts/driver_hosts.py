"""The hosts from which a run's users are driven: names with commas between, or a list of hosts with weights."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.errors import BadArgument
from loadgo.hosts.address import HERE_NAME, SSH_SCHEME, Address, ThisHost, parse_host
from loadgo.hosts.fleet import MOST_HOSTS, FleetHost, read_fleet

_ARGUMENT = "driven_from"
_REMEDY = "write names with commas between, such as gen1,ssh://ann@gen2:2222,here, or the path of a list of hosts"


def parse_driver_hosts(driven_from: Sequence[str] | str) -> tuple[FleetHost, ...]:
    """The hosts that `driven_from` names: `here`, hosts as ssh knows them, or the path of a list of hosts.

    Raises `BadArgument`, and `Mistake` for a list with one.
    """
    names = [driven_from] if isinstance(driven_from, str) else [str(name) for name in driven_from]
    if len(names) == 1 and names[0].endswith(".toml") and not names[0].startswith(SSH_SCHEME):
        return read_fleet(names[0], _ARGUMENT)
    words = [word.strip() for name in names for word in name.split(",")]
    if not all(words):
        raise BadArgument(f"`{_ARGUMENT}` has a name that is empty: {_REMEDY}").about(_ARGUMENT)
    hosts: dict[str, FleetHost] = {}
    for word in words:
        address = _address(word)
        if address.host in hosts:
            raise BadArgument(
                f"`{_ARGUMENT}` names {address.host} twice: name it once, or write a list of hosts (hosts.toml) in "
                "which each has a name"
            ).about(_ARGUMENT)
        hosts[address.host] = FleetHost(address.host, address, 1)
    if len(hosts) > MOST_HOSTS:
        raise BadArgument(f"`{_ARGUMENT}` names {len(hosts):,} hosts: {MOST_HOSTS:,} are possible").about(_ARGUMENT)
    return tuple(hosts.values())


def _address(word: str) -> Address:
    """The host of one name."""
    try:
        found = parse_host(word if word == HERE_NAME or word.startswith(SSH_SCHEME) else f"{SSH_SCHEME}{word}")
    except BadArgument:
        raise BadArgument(f"`{_ARGUMENT}={word}` is no host: {_REMEDY}").about(_ARGUMENT) from None
    return ThisHost() if found is None else found
