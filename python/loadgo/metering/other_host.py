"""Another host metered without a load by an agent there; its records come into a run folder here."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from loadgo.errors import LoadgoError
from loadgo.hosts.address import Address
from loadgo.hosts.agent import Agent, open_agent, parse_json, texts_of
from loadgo.hosts.far_records import FarRecords
from loadgo.running.prepared import ReportProgress
from loadgo.running.stopping import StopRequest, catch_stop_signals

_REQUEST_KEYS = ("meters", "every_s", "duration_s", "command_line")


def meter_other_host(
    host: Address, options: Mapping[str, Any], progress: ReportProgress | None, *, sudo: bool
) -> dict[str, Any]:
    """Meters `host` with the options of `_loadgo.MeteredHost`. Returns the values that its `watch` returns.

    Raises what `loadgo.meter` raises.
    """
    folder = Path(options["folder"])
    records = FarRecords(folder)
    with catch_stop_signals() as stop, open_agent(host, sudo=sudo, stop=stop) as agent:
        request = {
            "do": "meter",
            "id": folder.name,
            "address": str(host),
            **{key: options[key] for key in _REQUEST_KEYS},
        }
        try:
            answer = _collect(agent, request, records, stop, progress)
        except LoadgoError as error:
            raise _broken_off(records, error, folder) from None
        except BaseException:
            records.break_off("the metering was interrupted before its end")
            raise
    fields = parse_json(host, answer, dict)
    outcome = "stopped" if fields.get("outcome") == "stopped" else "done"
    left_behind = texts_of(fields.get("left_behind"))
    notes = (*texts_of(fields.get("notes")), *left_behind)
    return {"outcome": outcome, "exit_status": None, "signal": None, "notes": notes, "left_behind": left_behind}


def _collect(
    agent: Agent,
    request: Mapping[str, Any],
    records: FarRecords,
    stop: StopRequest,
    progress: ReportProgress | None,
) -> bytes:
    """Receives the records until the answer, which is returned, and completes the folder."""
    for kind, body in agent.ask(request, stop, request["duration_s"]):
        records.take(kind, body)
        if kind == "answer":
            records.finish()
            return body
        if progress is not None and kind == "beat" and records.begun:
            progress({"at_s": time.monotonic() - records.began_s})
    raise AssertionError("the frames end with an answer or an error")


def _broken_off(records: FarRecords, error: LoadgoError, folder: Path) -> LoadgoError:
    """The error for the caller, once the folder holds what has come until then."""
    if not records.begun:
        return error
    try:
        records.break_off(f"the metering broke off: {error}")
    except LoadgoError as damage:
        return type(error)(f"{error}\n{damage}")
    return type(error)(f"{error}\nthe records until then are in {folder}")
