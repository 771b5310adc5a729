"""16,000 calculator users who think a second each, driven by one core: what they cost the driver.

    python bench/bench_users.py [USERS] [SECONDS]

The driver has processor 0, the users have processor 1; every interaction is recorded with its usage. A second run is
without the kernel's scheduling group for each session, and tells how late the driver is by itself. The kernel updates
the load of all these groups in one go, and neither processor serves the driver meanwhile.
"""

from __future__ import annotations

import sys

from driven import Load, loadgo, raw
from figures import figure, finish
from machine import machine, terminals, without_session_groups


def main() -> None:
    """Measures once with and once without groups: a run of this size is a sample of many thousand interactions."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 16_000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
    here, notes = machine(), []
    with terminals(wanted) as users:
        run = loadgo(Load(users=users, seconds=seconds))
        with without_session_groups() as ungrouped:
            alone = loadgo(Load(users=users, seconds=seconds))
    if not ungrouped:
        notes.append("kernel.sched_autogroup_enabled may not be changed: run as root")
    if users < 16_000:
        refused = " (kernel.pty.max may not be raised: run as root)" if users < wanted else ""
        notes.append(f"{users} users{refused}; the targets are for 16,000, where wake-ups merge")
    if run.more["usage_every"] != 1:
        notes.append(f"usage was read for one interaction in {run.more['usage_every']} of a user")
    notes.append(f"driver: {run.more['driver']['proof']}")
    figures = [
        figure("users", "", [users]),
        figure("interactions a second", "/s", [run.rate]),
        figure("driver's thread, share of its core", "", [run.more["driver_share_of_core"]], "<= 0.5"),
        figure("driver's thread, CPU an interaction", "us", [run.more["driver_cpu_us"]], "<= 30"),
        figure("whole process, CPU an interaction", "us", [run.cpu_us]),
        figure("users' own CPU an interaction", "us", [run.more["users_cpu_us"]]),
        figure("driver's memory a user", "KB", [run.allocated_bytes / users / 1000], "< 2"),
        figure("the same, with its program's pages", "KB", [run.resident_bytes / users / 1000]),
        figure("lateness p50", "us", [run.lateness_p50_us], "< 50"),
        figure("lateness p99", "us", [run.lateness_p99_us]),
        figure("lateness p99, sessions without groups", "us", [alone.lateness_p99_us], "< 1000"),
        figure("response p50", "us", [run.response_p50_us]),
        figure("until all are logged in", "s", [run.log_in_s], "<= 12"),
        figure("interactions with their usage", "", [run.more["usage_share"]], ">= 1"),
        figure("records lost, users refused", "", [run.more["lost"] + run.more["sessions_refused"]], "<= 0"),
    ]
    finish("users", here, figures, notes, raw({"loadgo": [run], "without groups": [alone]}))


if __name__ == "__main__":
    main()
