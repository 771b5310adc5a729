"""The address of another host: `ssh://USER@HOST:PORT`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from loadgo.errors import BadArgument

HERE_NAME = "here"
"""The word for this host."""
SSH_SCHEME = "ssh://"
_PLAIN_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class Address:
    """Another host, as ssh finds it: a name of the user's ssh configuration or of the network."""

    host: str
    user: str | None = None
    port: int | None = None

    def __str__(self) -> str:
        user = "" if self.user is None else f"{self.user}@"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SSH_SCHEME}{user}{host}{'' if self.port is None else f':{self.port}'}"

    @property
    def ssh_words(self) -> list[str]:
        """The words of ssh's command line that name the host."""
        user = [] if self.user is None else ["-l", self.user]
        port = [] if self.port is None else ["-p", str(self.port)]
        return [*user, *port, "--", self.host]


@dataclass(frozen=True)
class ThisHost(Address):
    """This host among others from which users are driven. No ssh leads to it."""

    host: str = HERE_NAME

    def __str__(self) -> str:
        return HERE_NAME


def parse_host(on: str) -> Address | None:
    """The host that `on` names; None for `here`. Raises `BadArgument` for anything else."""
    if on == HERE_NAME:
        return None
    form = "write `here`, or ssh://USER@HOST:PORT, of which only HOST is needed"
    if not on.startswith(SSH_SCHEME) and on.endswith(".toml"):
        raise BadArgument(f"`on={on}` is a file, and this takes one host: {form}").about("on")
    if not on.startswith(SSH_SCHEME):
        meant = f"write ssh://{on} for the host {on}" if _PLAIN_NAME.fullmatch(on) else form
        raise BadArgument(f"`on={on}` is no host: {meant}").about("on")
    try:
        parts = urlsplit(on)
        host, user, port = _host_as_written(parts.netloc), parts.username, parts.port
    except ValueError:
        raise BadArgument(f"`on={on}` is no host: {form}").about("on") from None
    if parts.password is not None:
        raise BadArgument("`on` holds a password, which other users of this host could read: use a key").about("on")
    words = (host, *([] if user is None else [user]))
    well_formed = all(word and word.isprintable() and not word.startswith("-") and " " not in word for word in words)
    if not well_formed or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise BadArgument(f"`on={on}` is no host: {form}").about("on")
    return Address(host, user, port)


def _host_as_written(place: str) -> str:
    """The host of `USER@HOST:PORT` in the case in which it is written: names of an ssh configuration have one."""
    host = place.rpartition("@")[2]
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
