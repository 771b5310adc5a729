"""The abilities of this host: what loadgo can measure and control on it, and the reasons where it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from loadgo import _loadgo
from loadgo.documents.result import Result
from loadgo.errors import BadArgument
from loadgo.hosts.address import HERE_NAME, parse_host
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


_DRIVER_HOST_ABILITIES = (
    "a driver that is never kept waiting (SCHED_FIFO)",
    "a processor for the driver alone",
    "a paging device for the run (a limit's swap=)",
    "memory limits",
    "processor limits",
    "a clock without a system call",
    "timers",
    "rings of calls (io_uring)",
    "TLS by the kernel",
    "sending without a copy (MSG_ZEROCOPY)",
    "meter: a command's sockets",
)
"""Abilities that loadgo uses only on the host where it runs: for its driver, for limits, and for transfers."""


class AbilityList(Result, list[Ability], presented_by="loadgo.reporting.ability_list:ability_presentation"):
    """A list of a host's abilities."""

    def __init__(
        self, abilities: Iterable[Ability] = (), place: str = HERE_NAME, left_out: tuple[str, ...] = ()
    ) -> None:
        super().__init__(abilities)
        self.place = place
        """`here`, or words for the other host that has these abilities."""
        self.left_out = left_out
        """The names of abilities that loadgo uses only on the host where it runs, if the list is of another."""


def doctor(*, on: str = HERE_NAME, sudo: bool = False) -> AbilityList:
    """Tries what can be measured and controlled on a host. It takes about a tenth of a second and changes nothing.

    Args:
        on: The host: `here`, or `ssh://USER@HOST:PORT`, to which an agent is brought (see docs/hosts.md).
        sudo: Whether the agent on another host runs by `sudo`.

    Returns:
        A list of `Ability`: each with its `state` (`exact`, `estimated` or `absent`), the means, the reason why it is
        no better, and the remedy. The list of another host leaves out what only the host of the driver needs.

    Raises:
        loadgo.errors.BadArgument: `on` is no host; it is a `ValueError`.
        loadgo.hosts.failures.NoAgent: The host cannot be reached, or runs no agent. Its branches say why.
        loadgo.hosts.failures.AgentLost: The agent was lost before its answer.
        KeyboardInterrupt: A stop signal came before the answer of another host.
    """
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
    left_out = tuple(ability.name for ability in abilities if ability.name in _DRIVER_HOST_ABILITIES)
    return AbilityList((ability for ability in abilities if ability.name not in left_out), place, left_out)


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
