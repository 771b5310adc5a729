"""The disclosure sheet of a run: who, what, where, when, how, with which settings, and what was not measured.

The parts are those of a full disclosure report. SPEC's run rules ask for the system's identification, hardware,
software, tuning and notes. TPC's clauses ask for sponsor, settings, system under test, driver, measured interval and
attestation. What nobody recorded is said to be not recorded, since an empty line could mean either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from loadgo.notation.figures import duration, plain, quantile, rate, setting, size
from loadgo.notation.terms import meter_name
from loadgo.records.run_file_values import value_at
from loadgo.verification.results import Disclosure, Question, VerifiedFile

if TYPE_CHECKING:
    from loadgo.measures.summary import Summary
    from loadgo.records.tables import Tables

NOT_RECORDED = "not recorded"
_TESTER = f"{NOT_RECORDED}: a run names its host, and no person; the signature does"
_SCRIPT = "script.toml"
_OPTIONAL_TABLES = ("interactions", "time")
"""Tables whose columns without any value are told as not measured."""

_Shown = Callable[[Any], str]
_RECORDED: Mapping[Question, Sequence[tuple[str, str, _Shown]]] = {
    "what": (
        ("script", "name", str),
        ("script as it was named", "script", str),
        ("kind of load", "load.model", str),
        ("users", "load.users", setting),
        ("passes of each user", "load.passes", setting),
        ("length asked for", "load.duration_s", lambda value: duration(value * 1e9)),
        ("end asked for", "load.until", str),
        ("arrivals", "load.arrivals_per_second", rate),
        ("rates of the script's day from", "load.arrivals_from", str),
        ("think time", "load.think", str),
        ("typing", "load.typing", str),
        ("seed", "load.seed", setting),
    ),
    "where": (
        ("system under test", "system.name", str),
        ("kind of system", "system.kind", str),
        ("title", "system.title", str),
        ("source of its figures", "system.source", str),
        ("host", "system.hostname", str),
        ("architecture", "system.architecture", str),
        ("processor", "system.processor", str),
        ("processors", "system.processors", setting),
        ("memory", "system.memory_bytes", size),
        ("distribution", "system.distribution", str),
        ("kernel", "system.kernel", str),
        ("log-in", "system.login", str),
        ("paging devices", "system.paging_devices", lambda value: _listed(device.get("name") for device in value)),
        ("hosts", "system.hosts", lambda value: _listed(host.get("name") for host in value)),
    ),
    "when": (
        ("started", "started", str),
        ("ended", "ended", str),
        ("length of the run", "wall_s", lambda value: duration(value * 1e9)),
        ("outcome", "outcome", str),
    ),
    "how": (
        ("recorded by loadgo", "loadgo", str),
        ("driver's host", "driver.hostname", str),
        ("drivers", "drivers", lambda value: _listed(driver.get("name") for driver in value)),
        ("driver's scheduling", "driver.scheduling", str),
        ("its proof by the kernel", "driver.proof", str),
        ("driver's processor", "driver.processor", setting),
        ("processor time of an interaction", "usage.cpu", str),
        ("page faults of an interaction", "usage.faults", str),
        ("waits of an interaction", "usage.waits", str),
        ("interactions metered", "usage.every", lambda value: "each" if value == 1 else f"one of {value}"),
        ("user and system time divided by", "usage.split", str),
        ("tier of the meters", "meters.tier", str),
        ("meters that count each event", "meters.exact", lambda value: _listed(map(meter_name, value))),
        ("clock of the other host within", "clock.bound_ns", duration),
    ),
    "settings": (
        ("command", "command", lambda value: " ".join(map(str, value))),
        ("limit of memory", "limit.memory_bytes", size),
        ("limit of processors", "limit.cpus", setting),
        ("limit of swap", "limit.swap", str),
        ("changes of the machine", "system.set", lambda value: _listed(value)),
        ("discipline of the machine", "system.discipline", str),
        ("versions of programs", "system.versions", lambda value: _listed(value.values())),
        ("users of the host before the run", "conditions.users_logged_in", setting),
        ("load average before the run", "conditions.load_average", lambda value: _listed(map(_load, value))),
        ("load average at its end", "conditions.load_average_end", lambda value: _listed(map(_load, value))),
        ("memory available before the run", "conditions.memory_available_bytes", size),
        ("memory available at its end", "conditions.memory_available_end_bytes", size),
        ("conditions judged", "fail_if", lambda value: _listed(each.get("condition") for each in value)),
    ),
}
"""The lines that are values of `run.toml`: the item, the key, and how the value is shown."""
_WANTED = ("users", "think time", "seed", "kernel", "processor", "processors", "memory", "started", "ended", "command")
"""Items that are in the sheet also where they were not recorded."""


def disclosure_of(
    run_toml: Mapping[str, Any],
    files: Sequence[VerifiedFile],
    measured: tuple[Tables, Summary] | None,
    signature: str,
) -> tuple[Disclosure, ...]:
    """The sheet, from `run.toml`, the files' hashes, and the tables with their summary, if these can be read.

    `signature` says who signed the run.
    """
    lines = [Disclosure("who", "signed by", signature), Disclosure("who", "tester", _TESTER)]
    recorded = {question: list(_recorded(question, run_toml)) for question in _RECORDED}
    recorded["what"] += [*_hash_of_script(files), *_results(measured)]
    for question in _RECORDED:
        lines += recorded[question]
    return tuple(plain_line(line) for line in (*lines, *_not_measured(run_toml, measured)))


def plain_line(line: Disclosure) -> Disclosure:
    """The line without control characters, since names and versions are others' text."""
    return Disclosure(line.question, plain(line.item), plain(line.value))


def _recorded(question: Question, run_toml: Mapping[str, Any]) -> Iterator[Disclosure]:
    for item, key, shown in _RECORDED[question]:
        value = value_at(run_toml, key)
        if value in (None, "", [], {}):
            if item in _WANTED and not _is_of_other_kind(item, run_toml):
                yield Disclosure(question, item, NOT_RECORDED)
            continue
        yield Disclosure(question, item, _text(shown, value))


def _is_of_other_kind(item: str, run_toml: Mapping[str, Any]) -> bool:
    """Whether runs of this kind have no such value: a simulated machine has no kernel, a metering no users."""
    is_machine = run_toml.get("system", {}).get("kind") == "machine"
    is_metering = run_toml.get("kind") == "meter"
    return (is_machine and item in ("kernel", "processor", "memory")) or (
        is_metering and item in ("users", "think time", "seed")
    )


def _text(shown: _Shown, value: object) -> str:
    try:
        return shown(value)
    except (TypeError, ValueError, AttributeError):
        return str(value)  # a later loadgo may record another kind of value


def _load(average: float) -> str:
    """A load average with two decimals, as the kernel prints it."""
    return f"{average:.2f}"


def _listed(values: Any) -> str:
    return ", ".join(str(value) for value in values)


def _hash_of_script(files: Sequence[VerifiedFile]) -> Iterator[Disclosure]:
    for file in files:
        if file.name == _SCRIPT:
            yield Disclosure("what", "SHA-256 of the script", file.sha256)


def _results(measured: tuple[Tables, Summary] | None) -> Iterator[Disclosure]:
    """The main figures, so that the sheet says what the run is disclosed for."""
    if measured is None:
        return
    _, summary = measured
    response = summary.everything.response
    if response.count:
        yield Disclosure("what", "part that the figures are of", summary.stretch.name)
        yield Disclosure("what", "interactions in it", f"{response.count:,}")
        yield Disclosure(
            "what",
            "p50 and p90 of response",
            f"{quantile(response.quantile('p50'))}, {quantile(response.quantile('p90'))}",
        )


def _not_measured(run_toml: Mapping[str, Any], measured: tuple[Tables, Summary] | None) -> Iterator[Disclosure]:
    """The lines on what was not measured or only estimated, and the remarks of those who measured."""
    meters = run_toml.get("meters", {})
    for kind, word in (("not_here", ""), ("estimated", "estimated: ")):
        for name, reason in meters.get(kind, {}).items():
            yield Disclosure("not measured", str(name), f"{word}{reason}")
    for section in ("usage", "meters", "driver"):
        for note in run_toml.get(section, {}).get("notes", []):
            yield Disclosure("not measured", f"note on the {section}", str(note))
    for note in run_toml.get("notes", []):
        yield Disclosure("not measured", "note on the run", str(note))
    if measured is None:
        yield Disclosure("not measured", "figures", "the tables cannot be read")
        return
    tables, _ = measured
    for name in _OPTIONAL_TABLES:
        frame = getattr(tables, name)
        empty = [column for column in frame.columns if frame[column].null_count() == len(frame)]
        if frame.is_empty():
            yield Disclosure("not measured", f"table {name}", "it has no rows")
        elif empty:
            yield Disclosure("not measured", f"columns of {name} without a value", ", ".join(empty))
    yield Disclosure("not measured", "the programs' bytes", "a run records versions, and no hashes of programs")
    yield Disclosure("not measured", "prices", "a run has none: `loadgo cost RUN` names the tariff that it uses")
