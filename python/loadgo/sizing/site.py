"""What a search for the capacity loads: a script on this host or on a simulated machine, trial by trial."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadgo.measures.tariff import Tariff, tariff_on
from loadgo.running import bundled
from loadgo.running.folders import new_folder
from loadgo.running.prepared import THIS_HOST, PreparedRun, RunDriver, RunProgress, RunSettings, prepare_run
from loadgo.sizing.curve import Target
from loadgo.sizing.mix import Mix, seed_near
from loadgo.sizing.resources import PROCESSORS, Servers, servers_of
from loadgo.sizing.trials import Asked, Trial, trial_of

Watch = Callable[[RunProgress, Path], bool]
"""Hears how a trial stands and where its records are, about three times a second; False ends it."""


@dataclass(frozen=True)
class Site:
    """A script and the system that it is typed on; everything that can be checked is."""

    source: bundled.Source
    on: str
    drive: RunDriver
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
        return self.on == THIS_HOST


def site_of(
    script: str | Path | Mix, on: str, settings: RunSettings, *, tariff: str = "default", out: Path | None = None
) -> Site:
    """The script, or a mix of them, on the system `on`; raises what `loadgo.run` raises before anybody logs in."""
    mix = script if isinstance(script, Mix) else None
    source = script.source if isinstance(script, Mix) else bundled.find_script(script)
    ready = prepare_run(source, on, settings)
    commands = [str(name) for _, name in ready.script["lines"]]
    return Site(
        source=source,
        on=on,
        drive=ready.run_script,
        options={"script": source.requested, "command": [], **ready.options},
        commands=tuple(dict.fromkeys(commands)),
        lines_a_pass=len(commands),
        servers=_servers(ready),
        tariff=tariff_on(tariff, ready.system),
        out=out,
        mix=mix,
    )


def _servers(ready: PreparedRun) -> Servers:
    """How many servers each resource of the system has."""
    if ready.machine is None:
        return {PROCESSORS: os.cpu_count() or 1}
    return servers_of(ready.machine.parsed["text"], ready.machine.parsed["processors"])


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

        def go_on(told: RunProgress) -> bool:
            if not watch(told, folder):
                ended.append(True)
            return not ended

        site.drive(site.source.text, options, str(folder), go_on)
        from loadgo.records.tables import tables

        name = str(folder) if kept else f"seed {seed}"
        return trial_of(
            tables(folder),
            Asked(users, name, tuple(targets), site.servers, site.tariff, bool(ended), classes),
        )


def _folder(site: Site, users: int, seed: int) -> Path:
    name = f"{site.source.path.stem}-{users}-user{'s' if users > 1 else ''}"
    if site.out is None:
        return new_folder(None, name, datetime.now(UTC))
    return site.out / f"trial-{seed}-{name}"
