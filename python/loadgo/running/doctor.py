"""The abilities of this host: what loadgo can measure and control on it, and the reasons where it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from loadgo import _loadgo
from loadgo.documents.result import Result
from loadgo.errors import BadArgument, Refused
from loadgo.hosts.address import HERE_NAME, parse_host
from loadgo.hosts.fleet import is_fleet, read_fleet
from loadgo.running.stopping import catch_stop_signals

AbilityState = Literal["exact", "estimated", "absent"]


@dataclass(frozen=True)
class Ability:
    """Something that a run may need of a host, such as a meter."""

    name: str
    state: AbilityState
    """`exact` (or available), `estimated` (or available in part), `absent`."""
    how: str
    """The means, such as a kernel interface; empty if absent."""
    why_not: str
    """The reason why it is not exact; empty if it is."""
    remedy: str
    """Advice that makes it better; empty if none is known."""
    host: str = ""
    """The name of the host, in a list of several hosts; else empty."""


REACHED_ABILITY = "a log-in, and loadgo's agent"
"""The name of the ability that a host of several lacks if nothing else can be tried there."""

_OWN_HOST_ABILITIES = (
    "a paging device for the run (a limit's swap=)",
    "memory limits",
    "processor limits",
    "memory that the users refer to (--working-sets)",
    "rings of calls (io_uring)",
    "TLS by the kernel",
    "sending without a copy (MSG_ZEROCOPY)",
    "meter: a command's sockets",
    "meter: log-in sessions (loadgo observe --for)",
)
"""Abilities that loadgo uses only on the host where it runs: for limits, and for transfers."""

_FIFO = "SCHED_FIFO"
"""The scheduling that is a remedy for late timers, and an ability of its own."""


class AbilityList(Result, list[Ability], presented_by="loadgo.reporting.lists.ability_list:ability_presentation"):
    """A list of a host's abilities. No remedy in it is an ability that the same host has already."""

    def __init__(
        self, abilities: Iterable[Ability] = (), place: str = HERE_NAME, left_out: tuple[str, ...] = ()
    ) -> None:
        super().__init__(_without_remedies_there(list(abilities)))
        self.place = place
        """`here`, or words for the other host that has these abilities."""
        self.left_out = left_out
        """The names of abilities that loadgo uses only on the host where it runs, if the list is of another."""

    @property
    def unreached(self) -> tuple[str, ...]:
        """The hosts of several on which nothing could be tried."""
        return tuple(ability.host for ability in self if ability.name == REACHED_ABILITY and ability.state == "absent")


def doctor(*, on: str = HERE_NAME, sudo: bool = False) -> AbilityList:
    """Tries what can be measured and controlled on a host. It takes about a tenth of a second and changes nothing.

    Args:
        on: The host: `here`, or `ssh://USER@HOST:PORT`, to which an agent is brought (see docs/hosts-agent.md); or
            the path of a list of several hosts.
        sudo: Whether the agent on another host runs by `sudo`.

    Returns:
        A list of `Ability`: each with its `state` (`exact`, `estimated` or `absent`), the means, the reason why it is
        no better, and the remedy. The list of another host leaves out limits and what transfers need. In that
        of several hosts each ability names its host. A host that cannot be reached lacks `a log-in, and loadgo's
        agent`.

    Raises:
        loadgo.errors.BadArgument: `on` is no host; it is a `ValueError`.
        loadgo.errors.Mistake: The list of hosts has a mistake, which is told with its line and column.
        loadgo.hosts.failures.NoAgent: The host cannot be reached, or runs no agent. Its branches say why.
        loadgo.hosts.failures.AgentLost: The agent was lost before its answer.
        KeyboardInterrupt: A stop signal came before the answer of another host.
    """
    if is_fleet(on):
        return _abilities_of_hosts(on, sudo=sudo)
    host = parse_host(on)
    if host is None:
        if sudo:
            raise BadArgument("`sudo` is for another host: name one with `on`").about("sudo", "on")
        return AbilityList(map(_ability, _loadgo.probe()))
    from loadgo.hosts.agent import open_agent, parse_json

    with catch_stop_signals() as stop, open_agent(host, sudo=sudo, stop=stop) as agent:
        (answer,) = (body for kind, body in agent.ask({"do": "doctor"}, length_s=0.0) if kind == "answer")
        place = f"on {host} ({agent.host.hostname}, Linux {agent.host.kernel})"
    abilities = list(map(_far_ability, parse_json(host, answer, list)))
    left_out = tuple(ability.name for ability in abilities if ability.name in _OWN_HOST_ABILITIES)
    return AbilityList((ability for ability in abilities if ability.name not in left_out), place, left_out)


def _abilities_of_hosts(on: str, *, sudo: bool) -> AbilityList:
    """The abilities of all hosts in the list `on`, one host after the other."""
    hosts = read_fleet(on)
    found: list[Ability] = []
    left_out: dict[str, None] = {}
    for host in hosts:
        try:
            abilities = doctor(on=str(host.address), sudo=sudo)
        except Refused as refusal:
            abilities = AbilityList([Ability(REACHED_ABILITY, "absent", "", str(refusal), "")])
        found += [replace(ability, host=host.name) for ability in abilities]
        left_out |= dict.fromkeys(abilities.left_out)
    return AbilityList(found, f"on the {len(hosts)} hosts of {on}", tuple(left_out))


def _without_remedies_there(abilities: list[Ability]) -> list[Ability]:
    with_fifo = {ability.host for ability in abilities if _FIFO in ability.name and ability.state == "exact"}
    return [
        replace(ability, remedy=ability.remedy.removesuffix(f", or {_FIFO}")) if ability.host in with_fifo else ability
        for ability in abilities
    ]


def _ability(ability: Mapping[str, Any]) -> Ability:
    return Ability(
        name=ability["ability"],
        state=ability["state"],
        how=ability["how"],
        why_not=ability["why_not"],
        remedy=ability["remedy"],
    )


def _far_ability(ability: object) -> Ability:
    """An ability of another host, whose texts are made fit for a terminal. Raises `WrongFrames`."""
    from loadgo.hosts.failures import WrongFrames, shown

    keys = ("ability", "state", "how", "why_not", "remedy")
    if not isinstance(ability, dict) or not all(isinstance(ability.get(key), str) for key in keys):
        raise WrongFrames("the agent's answer is not in its form")
    if ability["state"] not in get_args(AbilityState):
        raise WrongFrames(f"the agent's answer has an unknown state: {shown(ability['state'])}")
    return _ability({key: shown(ability[key]) for key in keys})
