"""A script and a system, checked and ready to run: what a single run and each trial of a capacity search begin with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from loadgo import _loadgo
from loadgo.errors import BadArgument, Mistake, naming
from loadgo.notation import quantities
from loadgo.running import host, simulated_machine
from loadgo.running.bundled import Source
from loadgo.running.host import USUAL, Driver

HERE = "here"
"""The name of this host as a system."""

Told = dict[str, Any]
"""How a run stands, as the driver reports it about three times a second, or how it ended."""
Progress = Callable[[Told], None]
Drive = Callable[[str, dict[str, Any], str, Callable[[Told], bool]], Told]
"""Runs a script's text with options into a folder; stops when the function that hears the progress returns False."""


@dataclass(frozen=True)
class Settings:
    """How users behave, what they may use, and how they are measured: arguments of `loadgo.run` besides the load."""

    think: str | None = None
    typing: float | str | None = None
    set: tuple[str, ...] = ()
    limit: str | None = None
    usage_every: int | None = None
    meters: str | None = None
    driver: Driver = USUAL


@dataclass(frozen=True)
class Prepared:
    """A script that can be run on a system."""

    script: dict[str, Any]
    """The script, parsed: passes, needs, lines and more."""
    drive: Drive
    options: dict[str, Any]
    """The driver's options besides the load."""
    machine: simulated_machine.SimulatedMachine | None = None
    """None on this host."""

    @property
    def system(self) -> dict[str, Any]:
        """The machine's name, title and tariff, as far as prices need them; empty on this host."""
        return {} if self.machine is None else self.machine.system


def prepared(source: Source, on: str, settings: Settings) -> Prepared:
    """Checks a script and the system `on` that it is to run on.

    Raises `errors.Mistake` for a mistake in the script or the machine's file, `ValueError` for an impossible setting,
    and `errors.Refused` when this host lacks a program that the script needs.
    """
    manners = _manners(settings)
    script = parsed_script(source)
    if on == HERE:
        if settings.set:
            raise BadArgument("`set` changes a simulated machine: name one with `on`").about("set", "on")
        options = host.options(script["needs"], settings.limit, settings.usage_every, settings.driver)
        return Prepared(script, run_host, {**options, "meters": host.meters(settings.meters), **manners})
    machine = simulated_machine.prepare(
        on,
        settings.set,
        limit=settings.limit,
        usage_every=settings.usage_every,
        meters=settings.meters,
        driver=settings.driver,
    )
    return Prepared(script, run_machine, {**machine.options, **manners}, machine)


def parsed_script(source: Source) -> dict[str, Any]:
    """Reads a script; raises `errors.Mistake` with the file's name for a mistake in it."""
    try:
        return _loadgo.parse_script(source.text)
    except Mistake as mistake:
        raise mistake.in_file(str(source.path)) from None


def line_count(script: str) -> int:
    """The number of lines that a user types in one pass of a script's text; raises `errors.Mistake`."""
    return len(_loadgo.parse_script(script)["lines"])


def run_host(script: str, options: dict[str, Any], folder: str, hears: Callable[[Told], bool]) -> Told:
    """Runs a script's text on this host; raises `errors.Mistake`, `errors.Refused`, `errors.BadRun`."""
    return _loadgo.run_host(script, options, folder, hears)


def run_machine(script: str, options: dict[str, Any], folder: str, hears: Callable[[Told], bool]) -> Told:
    """Runs a script's text on a simulated machine; raises what `run_host` raises, and `ValueError`."""
    return _loadgo.run_machine(script, options, folder, hears)


def _manners(settings: Settings) -> dict[str, Any]:
    """The think time and typing rate that replace the script's; absent where it keeps its own. Rate 0 means at once."""
    manners: dict[str, Any] = {}
    if settings.think is not None:
        with naming("think"):
            manners["think"] = _loadgo.parse_think(settings.think)
    if settings.typing is not None:
        with naming("typing"):
            manners["typing"] = quantities.chars_per_second(settings.typing) or 0.0
    return manners
