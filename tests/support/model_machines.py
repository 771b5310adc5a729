"""Machine files of queueing models, for tests: M/M/1 and its kin, the machine repairman, the central server."""

from __future__ import annotations

HEAD = 'title = "a queueing model"\nsource = "a textbook"\n'


def open_queue(rate: float, cpu: str, *, count: int = 1, discipline: str = "first-come", quantum: str = "") -> str:
    """Customers who come at `rate` a second and ask the processors for `cpu`."""
    return f"""{HEAD}
{processors(count, discipline, quantum)}
[commands.work]
cpu = "{cpu}"

[[load]]
name = "customers"
arrivals = "{rate}/s"
commands = ["work"]
"""


def repairman(
    users: int, cpu: str, *, count: int = 1, discipline: str = "first-come", quantum: str = "", think_s: float = 10.0
) -> str:
    """Users who think exponentially and then ask the processors for `cpu`."""
    return f"""{HEAD}
{processors(count, discipline, quantum)}
[commands.work]
cpu = "{cpu}"

{terminals(users, "work", think_s)}"""


def processors(count: int, discipline: str, quantum: str = "", switch: str = "") -> str:
    """The table of the processors."""
    lines = ["[processors]", f"count = {count}", f'discipline = "{discipline}"']
    lines += [f'quantum = "{quantum}"'] if quantum else []
    lines += [f'switch = "{switch}"'] if switch else []
    return "\n".join(lines) + "\n"


def terminals(users: int, command: str, think_s: float = 10.0, name: str = "terminals") -> str:
    """A class of users who give one command again and again."""
    return f"""[[load]]
name = "{name}"
users = {users}
think = "exponential({think_s}s)"
commands = ["{command}"]
"""


def central_server(
    users: int,
    *,
    discipline: str = "round-robin",
    scale: float = 1.0,
    disk_s: float = 0.2,
    more: str = "",
    load: str = "",
) -> str:
    """Two processors in turns of 0.1 s and a disk that half the bursts go to; all times `scale` as long."""
    quantum = f"{0.1 * scale}s" if discipline == "round-robin" else ""
    disk = f"exponential({disk_s * scale}s)" if disk_s else "0s"
    return f"""{HEAD}
{processors(2, discipline, quantum)}
[storage.disk]
kind = "server"
service = "{disk}"
servers = 1

[commands.transaction]
route = [
  {{ at = "processor", service = "exponential({0.3 * scale}s)", then = {{ 1 = 0.5, done = 0.5 }} }},
  {{ at = "disk", service = "{disk}", then = {{ 0 = 1 }} }},
]
{more}
{load or terminals(users, "transaction", 10.0 * scale)}"""
