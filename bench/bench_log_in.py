"""How long it takes until 500 users of a shell are logged in: `sh`, and `bash` for the record, in alternation.

    python bench/bench_log_in.py [ROUNDS] [USERS]

Logged in is who has seen the first prompt. Each then types `true` once and leaves.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import loadgo
from figures import figure, finish
from machine import machine, terminals

SCRIPT = 'name = "log in"\nlogin = "{shell}"\nthink = "none"\nlines = ["true"]\n'
SHELLS = ("sh", "bash")


def main() -> None:
    """Measures each shell in alternation."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    users = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    here, shells = machine(), [shell for shell in SHELLS if shutil.which(shell)]
    with terminals(users):
        logged_in: list[dict[str, float]] = [{shell: _log_in(shell, users) for shell in shells} for _ in range(rounds)]
    taken = {shell: [one[shell] for one in logged_in] for shell in shells}
    figures = [
        figure(f"{users} users of sh, until all are logged in", "s", taken["sh"], "<= 5"),
        figure("log-ins a second, sh", "/s", [users / span for span in taken["sh"]]),
    ]
    if "bash" in taken:
        figures.append(figure(f"{users} users of bash, until all are logged in", "s", taken["bash"]))
    finish("log_in", here, figures, [], {"log_in_s": taken})


def _log_in(shell: str, users: int) -> float:
    """Seconds from the beginning of the run to the last user's first prompt."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        script = Path(place) / "log-in.toml"
        script.write_text(SCRIPT.format(shell=shell))
        tables: Any = loadgo.tables(loadgo.run(script, users=users, passes=1, out=Path(place) / "run"))
    seen = tables.sessions["ready_ns"].drop_nulls()
    if len(seen) < users:
        raise SystemExit(f"only {len(seen)} of {users} users of {shell} could log in: {tables.lost['reason'].unique()}")
    return float(seen.max()) / 1e9


if __name__ == "__main__":
    main()
