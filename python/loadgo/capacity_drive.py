"""What a search for the capacity loads: a script on this host or on a simulated machine, trial by trial."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadgo import _loadgo, asked, bundled, on_host, on_machine
from loadgo.capacity import Target
from loadgo.capacity_mix import Mix, seed_near
from loadgo.capacity_resources import PROCESSORS, Servers, servers_of
from loadgo.capacity_trials import Asked, Trial, trial_of
from loadgo.cost import Tariff, tariff_on
from loadgo.errors import Mistake
from loadgo.on_host import USUAL, Driver
from loadgo.run import Drive, Told, new_folder

HERE = "here"

Watch = Callable[[Told, Path], bool]
"""Hears how a trial stands and where its records are, about three times a second; False ends it."""


@dataclass(frozen=True)
class Site:
    """A script and the system that it is typed on; everything that can be checked is."""

    source: bundled.Source
    on: str
    drive: Drive
    options: Mapping[str, Any]
    commands: tuple[str, ...]
    """Of the script, each once."""
    lines_a_pass: int
    servers: Servers
    tariff: Tariff
    out: Path | None
    """Where the folders of trials are kept; None where they are not."""
    mix: Mix | None = None
    """Where the users are of several classes."""

    @property
    def live(self) -> bool:
        """Whether it is this host, which others may be using."""
        return self.on == HERE


@dataclass(frozen=True)
class Manner:
    """How the users are, and what they may have: what `loadgo.run` is given beside the script and their number."""

    think: str | None = None
    typing: float | str | None = None
    set: tuple[str, ...] = ()
    limit: str | None = None
    usage_every: int | None = None
    meters: str | None = None
    driver: Driver = USUAL


def site_of(
    script: str | Path | Mix, on: str, manner: Manner, *, tariff: str = "default", out: Path | None = None
) -> Site:
    """The script, or a mix of them, on the system `on`; raises what `loadgo.run` raises before anybody logs in."""
    mix = script if isinstance(script, Mix) else None
    source = script.source if isinstance(script, Mix) else bundled.find(script)
    try:
        told = _loadgo.parse_script(source.text)
    except Mistake as mistake:
        raise mistake.in_file(str(source.path)) from None
    system: dict[str, Any] = {}
    if on == HERE:
        if manner.set:
            raise ValueError("--set changes a simulated machine: name one with --on")
        options = on_host.options(told["needs"], manner.limit, manner.usage_every, manner.driver)
        options |= {"meters": on_host.meters(manner.meters)}
        drive: Drive = _loadgo.run_host
        servers: dict[str, int | None] = {PROCESSORS: _online()}
    else:
        prepared = on_machine.prepare(
            on,
            manner.set,
            limit=manner.limit,
            usage_every=manner.usage_every,
            meters=manner.meters,
            driver=manner.driver,
        )
        options, system, drive = prepared.options, prepared.system, _loadgo.run_machine
        parsed = _loadgo.parse_machine(options["machine_text"], list(manner.set))
        servers = servers_of(parsed["text"], parsed["processors"])
    commands = [str(name) for _, name in told["lines"]]
    return Site(
        source=source,
        on=on,
        drive=drive,
        options={"script": source.asked, "command": [], **options, **_manners(manner)},
        commands=tuple(dict.fromkeys(commands)),
        lines_a_pass=len(commands),
        servers=servers,
        tariff=tariff_on(tariff, system),
        out=out,
        mix=mix,
    )


@dataclass(frozen=True)
class Load:
    """One trial's load."""

    users: int
    seed: int
    warm_up_s: float | None
    """None: until everybody has typed a line."""
    seconds: float | None
    """That count; None: until there are enough `interactions`."""
    interactions: int = 0


def tried(site: Site, targets: Sequence[Target], load: Load, watch: Watch) -> Trial:
    """Loads the system; the trial may be ended by `watch`.

    Raises what `loadgo.run` raises.
    """
    users, seed = load.users, load.seed
    classes: tuple[str, ...] = ()
    if site.mix is not None:
        seed, classes = seed_near(site.mix, users, seed)
    options = {
        **site.options,
        "users": users,
        "passes": None,
        "duration_s": load.seconds,
        "warm_up_s": load.warm_up_s,
        "until": None if load.seconds is not None else f"interactions={load.interactions}",
        "arrivals_per_second": None,
        "seed": seed,
    }
    kept = site.out is not None or site.live
    with nullcontext() if kept else tempfile.TemporaryDirectory(prefix="loadgo-capacity-") as temporary:
        folder = Path(temporary) / "run" if temporary else _folder(site, users, seed)
        ended = []

        def go_on(told: Told) -> bool:
            if not watch(told, folder):
                ended.append(True)
            return not ended

        site.drive(site.source.text, options, str(folder), go_on)
        from loadgo.tables import tables

        name = str(folder) if kept else f"seed {seed}"
        return trial_of(
            tables(folder),
            Asked(users, name, tuple(targets), site.servers, site.tariff, bool(ended), classes),
        )


def _manners(manner: Manner) -> dict[str, Any]:
    """What replaces the script's think time and typing rate."""
    manners: dict[str, Any] = {}
    if manner.think is not None:
        manners["think"] = _loadgo.parse_think(manner.think)
    if manner.typing is not None:
        manners["typing"] = asked.chars_per_second(manner.typing) or 0.0
    return manners


def _folder(site: Site, users: int, seed: int) -> Path:
    name = f"{site.source.path.stem}-{users}-user{'s' if users > 1 else ''}"
    if site.out is None:
        return new_folder(None, name, datetime.now(UTC))
    return site.out / f"trial-{seed}-{name}"


def _online() -> int:
    import os

    return os.cpu_count() or 1
