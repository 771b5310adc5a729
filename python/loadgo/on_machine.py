"""A simulated machine as the system that users are logged in to: found, merged, and asked for nothing of a host's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from loadgo.on_host import USUAL, Driver


def options(
    on: str, set: Sequence[str], *, limit: str | None, usage_every: int | None, driver: Driver
) -> dict[str, Any]:
    """What `_loadgo.run_machine` is told beside the load.

    Raises `ValueError` for an unknown machine, and for what can be asked of a host only.
    """
    refused = [
        (limit is not None, "--limit", "a machine has what its file says: --set memory.frames=512"),
        (usage_every is not None, "--usage-every", "on a simulated machine each interaction's usage is known"),
        (driver.processor is not None, "--processor", "time is virtual, and no line is ever late"),
        (not driver.fifo, "--no-fifo", "time is virtual, and no line is ever late"),
    ]
    for given, option, reason in refused:
        if given:
            raise ValueError(f"{option} is for a host: {reason}")
    from loadgo import machines

    found = machines.find(on)
    return {
        "machine": found.asked,
        "machine_text": found.text,
        "set": list(set),
        "log_ins_at_once": driver.log_ins_at_once if driver is not USUAL else None,
    }
