"""A script and a system, prepared for a capacity search, and a trial on them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from loadgo.errors import BadArgument
from loadgo.hosts.fleet import fewest_users, is_fleet, read_fleet
from loadgo.measures.tariff import Tariff, tariff_on
from loadgo.notation.quantities import user_count
from loadgo.records.run_file import make_folder
from loadgo.records.runs import CAPACITY_FILE
from loadgo.running import bundled
from loadgo.running.folders import new_folder, refused_run_removed
from loadgo.running.prepared import (
    THIS_HOST,
    PreparedRun,
    RunDriver,
    RunProgress,
    RunSettings,
    is_host,
    prepare_systems,
)
from loadgo.sizing.curve import Target
from loadgo.sizing.mix import UserMix, nearest_seed
from loadgo.sizing.resources import PROCESSORS_RESOURCE, ServerCounts, cpu_limit_servers, server_counts
from loadgo.sizing.search.early_end import TrialWatcher
from loadgo.sizing.search.results import Capacity
from loadgo.sizing.search.trials import CapacityTrial, TrialQuestions, trial_from

DEFAULT_MAX_USERS_MACHINE = 10_000
"""Default of the largest number of users on a simulated machine."""
DEFAULT_MAX_USERS_HOST = 8
"""Default of the largest number of users on a host, and for each of several."""


@dataclass(frozen=True)
class TrialSite:
    """A script and the system that it is typed on, both checked."""

    source: bundled.Source
    on: str
    drive: RunDriver
    options: Mapping[str, Any]
    commands: tuple[str, ...]
    """The commands of the script, each once."""
    servers: ServerCounts
    """Number of servers by resource. That of another host's processors is not known before its first trial."""
    tariff: Tariff
    out: Path | None
    """The folder that keeps the folders of trials; None for the default."""
    mix: UserMix | None = None
    """The classes of users; None if all users type one script."""
    fit_warnings: tuple[str, ...] = ()
    """The reasons to doubt the fit of a fitted machine."""
    limit_warnings: tuple[str, ...] = ()
    """The limits that this host cannot reach."""
    settings: tuple[str, ...] = ()
    """The caller's settings in words: `think exponential(1s)`, `limit cpus=0.5`."""
    hosts: int = 1
    """Number of hosts of a list; 1 for any other system."""
    fewest_users: int = 1
    """The fewest users of a trial: on several hosts, each has a user."""
    class_limits: Mapping[str, str] = field(default_factory=dict)
    """The limits of each user of a class, by its name, where they differ from those of each other user."""

    @property
    def live(self) -> bool:
        """Whether the system is a host, this one or another, which others may use."""
        return is_host(self.on)

    @property
    def is_other_host(self) -> bool:
        """Whether users log in to another host."""
        return self.live and self.on != THIS_HOST

    @property
    def resources(self) -> tuple[str, ...]:
        """The resources that a target can name."""
        if self.live:
            return (PROCESSORS_RESOURCE,)
        return tuple(name for name, count in self.servers.items() if count is not None)

    def servers_in(self, trials: Sequence[CapacityTrial]) -> ServerCounts:
        """Number of servers by resource, with what the trials have found."""
        found = [trial.host_processors for trial in trials if trial.host_processors is not None]
        return {PROCESSORS_RESOURCE: found[-1]} if self.is_other_host and found else self.servers


def prepare_site(
    script: str | Path | UserMix,
    on: str,
    settings: RunSettings,
    *,
    sudo: bool = False,
    tariff: str = "default",
    out: Path | None = None,
    class_limits: Mapping[str, str] | None = None,
) -> TrialSite:
    """Prepares a script or a mix on the system `on`. Raises the errors of `loadgo.run` before the first log-in."""
    single = tuple(((), text) for text in (class_limits or {}).values())
    settings = replace(settings, limit_single=single)  # each trial has the users of its classes
    mix = script if isinstance(script, UserMix) else None
    source = script.source if isinstance(script, UserMix) else bundled.find_script(script)
    ready = prepare_systems(source, on, settings, sudo=sudo)
    fleet = read_fleet(on) if is_fleet(str(on)) else ()
    return TrialSite(
        hosts=len(fleet) or 1,
        fewest_users=fewest_users(fleet) if fleet else 1,
        source=source,
        on=on,
        drive=ready.run_script,
        options={"script": source.requested, "command": [], **ready.options},
        commands=tuple(dict.fromkeys(str(name) for _, name in ready.script["lines"])),
        servers=_site_servers(on, ready),
        tariff=tariff_on(tariff, ready.system),
        out=out,
        mix=mix,
        fit_warnings=() if ready.machine is None else ready.machine.fit_warnings,
        limit_warnings=ready.limit_warnings,
        settings=settings_in_words(settings, class_limits or {}),
        class_limits=class_limits or {},
    )


def max_users_on(site: TrialSite, asked: int | None) -> int:
    """The largest number of users of a search, by default or as asked. Fewer than several hosts need are refused."""
    if asked is None:
        default_max_users = DEFAULT_MAX_USERS_HOST * site.hosts if site.live else DEFAULT_MAX_USERS_MACHINE
        return max(default_max_users, site.fewest_users)
    max_users = user_count(asked)
    if max_users < site.fewest_users:
        raise BadArgument(
            f"`max_users={max_users}` are too few for the {site.hosts} hosts of {site.on}, each of which has a user "
            f"from {site.fewest_users} on: use more users, fewer hosts, or other weights"
        ).about("max_users", "on")
    return max_users


def _site_servers(on: str, ready: PreparedRun) -> ServerCounts:
    """Number of servers of each resource of the system; empty for another host."""
    if ready.machine is None:
        if on != THIS_HOST:
            return {}
        return cpu_limit_servers(ready.cpu_limit, {PROCESSORS_RESOURCE: os.cpu_count() or 1})
    return server_counts(ready.machine.parsed["text"], ready.machine.parsed["processors"])


def settings_in_words(settings: RunSettings, class_limits: Mapping[str, str]) -> tuple[str, ...]:
    """The settings of the trials that replace the script's, the machine's or the host's: `limit cpus=0.5`."""
    named = {"think": settings.think, "typing": settings.typing, "limit": settings.limit}
    named |= {"limit-each": settings.limit_each, "meters": settings.meters}
    shown = [f"{name} {value}" for name, value in named.items() if value is not None]
    return (*shown, *settings.set, *(f"limit-each {name}:{limits}" for name, limits in class_limits.items()))


@dataclass(frozen=True)
class TrialLoad:
    """The load of one trial."""

    users: int
    seed: int
    warm_up_s: float | None
    """Length of the warm-up; None means until every user has typed a line."""
    seconds: float | None
    """Length of the measured time; None means until there are `interactions`."""
    interactions: int = 0


def run_trial(site: TrialSite, targets: Sequence[Target], load: TrialLoad, watch: TrialWatcher) -> CapacityTrial:
    """Runs a trial, which `watch` can end early. Raises the errors of `loadgo.run`."""
    users, seed = load.users, load.seed
    classes: tuple[str, ...] = ()
    if site.mix is not None:
        seed, classes = nearest_seed(site.mix, users, seed)
    options = {
        **site.options,
        "users": users,
        "passes": None,
        "duration_s": load.seconds,
        "warm_up_s": load.warm_up_s,
        "until": None if load.seconds is not None else f"interactions={load.interactions}",
        "arrivals_per_second": None,
        "seed": seed,
        **_single_limits(site, classes),
    }
    is_kept = site.out is not None or site.live
    with nullcontext() if is_kept else tempfile.TemporaryDirectory(prefix="loadgo-capacity-") as temporary:
        folder = Path(temporary) / "run" if temporary else _trial_folder(site, users, seed)
        stopped = []

        def keep_running(progress: RunProgress) -> bool:
            if not watch(progress, folder):
                stopped.append(True)
            return not stopped

        with refused_run_removed(folder):
            site.drive(site.source.text, options, str(folder), keep_running)
        from loadgo.records.fleet_tables import tables_of_load
        from loadgo.records.tables import load_tables, tables

        name = str(folder) if is_kept else f"seed {seed}"
        return trial_from(
            # On a machine, of the meters' tables only those of its stores are asked for.
            tables_of_load(tables(folder)) if site.live else load_tables(folder, also=["queue"]),
            TrialQuestions(users, name, tuple(targets), site.servers, site.tariff, bool(stopped), classes),
        )


def _single_limits(site: TrialSite, classes: Sequence[str]) -> dict[str, Any]:
    """The option of a run for the classes with limits of their own; `classes` has the class of each user."""
    if not site.class_limits:
        return {}
    by_class = {name: [user for user, each in enumerate(classes, 1) if each == name] for name in site.class_limits}
    return {"limit_single": [(users, site.class_limits[name]) for name, users in by_class.items() if users]}


def _trial_folder(site: TrialSite, users: int, seed: int) -> Path:
    name = f"{site.source.path.stem}-{users}-user{'s' if users > 1 else ''}"
    if site.out is None:
        return new_folder(None, name, datetime.now(UTC))
    return site.out / f"trial-{seed}-{name}"


def keep_result(capacity: Capacity, folder: Path) -> Capacity:
    """Writes the result of a search beside the folders of its trials, where `loadgo lab` finds it."""
    from loadgo.sizing.report.document import capacity_json

    note = write_result(folder, {CAPACITY_FILE: capacity_json(capacity)})
    return replace(capacity, notes=(*capacity.notes, note)) if note else capacity


def write_result(folder: Path, files: Mapping[str, str]) -> str:
    """Writes the files of a result below `folder`. Returns a note if one cannot be written; else an empty text.

    A full disk is a note of the result, since an error would lose the answer.
    """
    for name, content in files.items():
        path = folder / name
        temporary = path.with_name(f".{path.name}")
        try:
            make_folder(path.parent)
            temporary.write_text(content, encoding="utf-8")
            temporary.replace(path)
        except OSError as error:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            return f"{name}: the result could not be written to {folder} ({error.strerror or error})."
    return ""
