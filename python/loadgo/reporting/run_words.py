"""The run that a report is of, in a line each: its name and load, its limits, and its host or machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loadgo.hosts.address import SSH_SCHEME
from loadgo.measures.summary import Summary
from loadgo.notation.figures import counted, number, people, setting, size
from loadgo.reporting.host_table import names_of_hosts
from loadgo.reporting.metered_command_words import metered_command
from loadgo.reporting.processor_time_words import without_load
from loadgo.reporting.simulated_machine import machine, simulated

_MOST_SHOWN_VALUES = 8
"""Largest number of values with which an empirical law is shown."""


def title(summary: Summary) -> str:
    """The run's name and load: `typical user: 20 users, closed load, …`."""
    if without_load(summary):
        host = metered_command(summary) or summary.run.name or summary.run.id or "this host"
        if summary.run.users_run:
            return f"{host}: its meters during the run {summary.run.users_run}, whose users are not in this report"
        return f"{host}: metered without a load of users"
    limits = limits_in_words(summary)
    held = f"; users held to {limits}" if limits else ""
    each = limits_of_each_in_words(summary.run.limit_each)
    held += f"; each user held to {each}" if each else ""
    return f"{summary.run.name or summary.run.id or 'a run'}: {people(summary.run.users)}, {load(summary)}{held}"


def limits_in_words(summary: Summary) -> str:
    """The limits of the users, as `memory 512 MiB, 1 processor`; empty without any."""
    limit = summary.run.limit
    parts = [f"memory {_given_size(limit['memory_bytes'])}"] if "memory_bytes" in limit else []
    if "cpus" in limit:
        parts.append(f"{setting(limit['cpus'])} processor{'' if limit['cpus'] == 1 else 's'}")
    parts += [f"paging to {_paging_device(str(limit['swap']))}"] if "swap" in limit else []
    return ", ".join(parts)


def limits_of_each_in_words(limit: Mapping[str, Any]) -> str:
    """The limits of each user, as `0.5 processors, 200 processes`; empty without any."""
    cpus, nice = limit.get("cpus"), limit.get("nice")
    parts = [
        "" if cpus is None else f"{setting(cpus)} processor{'' if cpus == 1 else 's'}",
        f"memory {_given_size(limit['memory_bytes'])}" if "memory_bytes" in limit else "",
        f"paging {size(limit['swap_bytes'])}" if "swap_bytes" in limit else "",
        f"{number(limit['pids'])} processes" if "pids" in limit else "",
        "" if nice is None else f"nice {nice}",
        f"{size(limit['io_bytes_per_s'])}/s of each disk" if "io_bytes_per_s" in limit else "",
        "other limits for some users" if limit.get("single") else "",
    ]
    return ", ".join(part for part in parts if part)


def _given_size(count: int) -> str:
    """A size as a limit is given, in powers of 1024, with the decimal one beside: `200 MiB (210 MB)`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if count and count % unit == 0:
            return f"{count // unit:,} {name} ({size(count)})"
    return size(count)


def _paging_device(swap: str) -> str:
    """The users' paging device, as `zram of 1.07 GB`, from a text such as `zram:1073741824`."""
    kind, _, count = swap.partition(":")
    return f"{kind} of {size(int(count))}" if count.isdigit() else swap


def load(summary: Summary) -> str:
    """The users' load in a line."""
    load_section = summary.run.load
    passes = load_section.get("passes")
    parts = [
        f"{summary.run.model} load",
        f"think {_law(str(load_section['think']))}" if load_section.get("think") else "",
        f"typing {load_section['typing']}" if load_section.get("typing") else "",
        f"{passes} pass{'es' if passes != 1 else ''}" if passes else "",
        f"for {setting(load_section['duration_s'])} s" if load_section.get("duration_s") else "",
        f"until {load_section['until']}" if load_section.get("until") else "",
        _arrivals(load_section),
        f"seed {load_section['seed']}" if "seed" in load_section else "",
    ]
    return ", ".join(part for part in parts if part)


def _law(text: str) -> str:
    """A law of times; of an empirical one with many values their number alone."""
    values = text.count(",") + 1
    return f"empirical, {values} values" if text.startswith("empirical(") and values > _MOST_SHOWN_VALUES else text


def _arrivals(load_section: Mapping[str, Any]) -> str:
    """The arrivals of an open load; empty for a closed one."""
    rate = load_section.get("arrivals_per_second")
    if not rate:
        return ""
    if begin := load_section.get("arrivals_from"):
        return f"log-ins at the script's rates from {begin}, {number(rate * 3600)}/h on average"
    return f"{setting(rate)} log-ins a second"


def system(summary: Summary) -> str:
    """The host or the machine in a line."""
    system_section = summary.run.system
    memory, processors = system_section.get("memory_bytes"), system_section.get("processors")
    if simulated(summary):
        return machine(summary)
    hosts = summary.hosts or (() if summary.metered_hosts is None else summary.metered_hosts.hosts)
    if hosts:
        parts = [
            f"{counted(len(hosts), 'host')} of {system_section.get('name', '')}",
            names_of_hosts([host.name for host in hosts]),
            f"{processors} processors" if processors else "",
            summary.run.started[:19].replace("T", " "),
        ]
        return ", ".join(part for part in parts if part)
    parts = [
        _host_name(system_section),
        str(system_section.get("distribution", "")),
        f"kernel {system_section['kernel']}" if system_section.get("kernel") else "",
        f"{processors} processor{'s' if processors != 1 else ''}" if processors else "",
        str(system_section.get("processor", "")),
        size(memory) if memory else "",
        summary.run.started[:19].replace("T", " "),
    ]
    return ", ".join(part for part in parts if part)


def _host_name(system_section: Mapping[str, Any]) -> str:
    """The name of a host, and the address if it is another than the driver's."""
    name, hostname = str(system_section.get("name", "")), str(system_section.get("hostname", ""))
    if name.startswith(SSH_SCHEME) and hostname:
        return f"{hostname} ({name})"
    return hostname or name or "an unnamed system"
