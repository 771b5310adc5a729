"""Runs a command on another host, where an agent meters it as `command_meter` does here.

The command reads nothing, and begins in the account's home. What it prints comes back while it runs.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from loadgo import _loadgo
from loadgo.errors import BadArgument, Refused
from loadgo.hosts.address import Address
from loadgo.hosts.agent import open_agent, parse_json, texts_of
from loadgo.hosts.failures import WrongFrames, shown
from loadgo.running.command_meter import (
    MISSING_PROGRAM_STATUS,
    NOT_EXECUTABLE_STATUS,
    CommandOrder,
    HostFacts,
    MeteredRuns,
    NotRun,
    command_run,
    prefer_wait4,
)
from loadgo.running.stopping import catch_stop_signals

_SOURCES = ("cpu", "faults", "waits", "split")
_OWN_STREAMS = (1, 2)
"""The numbers of this process's output and errors: those of the command's streams, too."""
_NUMBER_BITS = 64
"""Width of the numbers in an agent's answer."""


def run_command_there(order: CommandOrder, host: Address) -> MeteredRuns:
    """Makes the runs of `order` on another host, or fewer after a stop signal, which ends the command there.

    Raises `NotRun`, `BadArgument` for words that are not text, and the branches of `NoAgent` and of `AgentLost`.
    """
    request = {
        "do": "ready",
        "command": list(map(_checked_word, order.command)),
        "cold": [stage == "cold first" for stage in order.stages],
        "output": not order.quiet,
    }
    answer: dict[str, Any] = {}
    with catch_stop_signals() as stop, open_agent(host, stop=stop) as agent:
        for kind, body in agent.ask(request, stop):
            if kind == "printed":
                _print(body)
            elif kind == "answer":
                answer = parse_json(host, body, dict)
        interrupted = stop.number or None
    try:
        return _metered_runs(answer, order, host, interrupted)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise WrongFrames(f"{host}: the agent's answer is not in its form") from None


def _checked_word(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError:
        raise BadArgument(
            f"{word!r} is not UTF-8: a command for another host is sent as text; name the file by a pattern, as in "
            "`sh -c 'ls *.txt'`"
        ).about("command") from None
    return word


def _print(body: bytes) -> None:
    """Writes what the command printed to the same stream of this process. Nobody need read it."""
    stream, printed = body[:1], memoryview(body)[1:]
    if not stream or stream[0] not in _OWN_STREAMS:
        return
    with suppress(BrokenPipeError):
        while printed:
            printed = printed[os.write(stream[0], printed) :]


def _metered_runs(answer: dict[str, Any], order: CommandOrder, host: Address, interrupted: int | None) -> MeteredRuns:
    left_behind = texts_of(answer["left_behind"])
    if answer["not_run"] is not None:
        raise _not_run(answer["not_run"], order.command[0], host, left_behind)
    sources = prefer_wait4(_sources(answer["sources"]))
    facts = HostFacts(_number(answer["began_ns"]), _number(answer["floor_bytes"]), sources)
    if len(answer["runs"]) > len(order.stages):
        raise ValueError
    runs = tuple(
        command_run(_raw_run(run), stage, facts, run["interrupted"] is True)
        for run, stage in zip(answer["runs"], order.stages, strict=False)
    )
    return MeteredRuns(runs, sources, facts.floor_bytes, interrupted, left_behind)


def _not_run(reason: dict[str, Any], program: str, host: Address, left_behind: tuple[str, ...]) -> Refused:
    status = MISSING_PROGRAM_STATUS if reason["is_missing"] is True else NOT_EXECUTABLE_STATUS
    why = "no such program" if reason["is_missing"] is True else shown(str(reason["reason"]))
    refusal = NotRun(f"{host}: {program}: {why}", status)
    for text in left_behind:
        refusal.add_note(text)
    return refusal


def _sources(answer: dict[str, Any]) -> dict[str, Any]:
    sources: dict[str, Any] = {name: shown(str(answer[name])) for name in _SOURCES}
    notes = list(texts_of(answer["notes"]))
    step_ns = _number(answer["cpu_resolution_ns"])
    return sources | {"cpu_resolution_ns": step_ns, "groups": answer["groups"] is True, "notes": notes}


def _raw_run(answer: dict[str, Any]) -> dict[str, Any]:
    """A run in the form in which the meter here returns it."""
    usage, waited, cold = answer["usage"], answer["waited"], answer["cold"]
    return {
        "real_ns": _number(answer["real_ns"]),
        "usage": {name: _number_or_none(usage[name]) for name in _loadgo.USAGE_COLUMNS},
        "waited": {name: _number(waited[name]) for name in _loadgo.WAIT4_FIGURES},
        "exit_status": _number_or_none(answer["exit_status"]),
        "signal": _number_or_none(answer["signal"]),
        "left_running": _number(answer["left_running"]),
        "let_go": _number(answer["let_go"]),
        "lost": _number(answer["lost"]),
        "cold": None if cold is None else _cold(cold),
    }


def _cold(answer: dict[str, Any]) -> dict[str, Any]:
    files = [(Path(shown(str(path))), _number(size), _number_or_none(stayed)) for path, size, stayed in answer["files"]]
    return {"files": files, "names_dropped": answer["names_dropped"] is True}


def _number(value: object) -> int:
    """A number from another host. Raises `ValueError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << _NUMBER_BITS:
        raise ValueError
    return value


def _number_or_none(value: object) -> int | None:
    return None if value is None else _number(value)
