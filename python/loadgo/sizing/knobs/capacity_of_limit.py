"""The call that searches a limit of the users: which value keeps every target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadgo.running.folders import check_out, failed_runs_named
from loadgo.running.host import DEFAULT_DRIVER, Driver
from loadgo.running.prepared import ReportProgress as ReportTrial
from loadgo.running.prepared import RunSettings
from loadgo.running.run import texts_of
from loadgo.sizing.knobs.find import find_knob, knob_search
from loadgo.sizing.knobs.results import KnobCapacity
from loadgo.sizing.mix import check_seed, script_or_mix_of
from loadgo.sizing.options import SearchOptions, knob_trial_s
from loadgo.sizing.search.results import ReportProgress


def capacity_of_limit(
    script: str | Path | None = None,
    *,
    vary: str,
    target: str | Sequence[str],
    on: str = "here",
    users: int | None = None,
    mix: str | None = None,
    think: str | None = None,
    typing: float | str | None = None,
    set: Sequence[str] = (),
    limit: str | None = None,
    limit_each: str | Sequence[str] = (),
    meters: str | None = None,
    driver: Driver = DEFAULT_DRIVER,
    shortest: float | str | None = None,
    trials: int | None = None,
    seed: int = 1,
    tariff: str = "default",
    out: str | Path | None = None,
    progress: ReportProgress | None = None,
    trial_progress: ReportTrial | None = None,
) -> KnobCapacity:
    """Finds the limit of users that keeps every target, with a given number of users, on a host or a machine.

        result = loadgo.capacity_of_limit(
            mix="hog-cpu=3,typical-user=57", vary="limit-each.cpus=0.25:8", target="p90(edit) < 1s"
        )
        print(result.in_words, result.interval)

    Args:
        script: A bundled script's name, or the path of a script. None with `mix`.
        vary: The limit and its range: `limit-each.cpus=0.25:8`, `limit-each.CLASS.memory=64M:4G`, `limit.cpus=1:8`.
            `cpus`, `memory`, `pids` and `io` of each user can be varied, `cpus` and `memory` of all together.
        target: One or more ceilings: `p90(edit) < 1s`, `mean < 500ms`, `errors < 1%`. All must hold.
        on: `here`, or a simulated machine, where `limit-each.cpus` can be varied.
        users: The number of users. With a mix, by default the sum of its weights.
        mix: Users of several classes, such as `hog-cpu=3,typical-user=57`.
        think: The law of think times instead of the script's.
        typing: The typing rate instead of the script's.
        set: Values of the machine file that are replaced, such as `processors.count=4`.
        limit: Limits of all users together.
        limit_each: Further limits of each user, such as `memory=1G`; `CLASS:cpus=0.5` is for the users of one class.
        meters: The meters: `none`, `cheap`, `cheap,locks`, `cheap,profile`, `sampled` or `exact`.
        driver: How the driver runs: its priority and processor.
        shortest: The length of a trial. By default 30 s; on a machine 30 min of virtual time.
        trials: The largest number of trials. By default 16 on a host, and 32 on a machine.
        seed: The first trial's seed. Each further trial has the next seed.
        tariff: Prices of the resources.
        out: The folder that keeps the trials' runs, the result, and the recommended files.
        progress: A function that is called with a sentence about each trial.
        trial_progress: A function that is called about three times a second with the state of the present trial.

    Returns:
        `KnobCapacity` with the value (`answer`), its interval, the measured curve, and files to put in place.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Mistake: The script has a mistake.
        loadgo.errors.Refused, loadgo.errors.BadRun: As `loadgo.run` raises them.
    """
    check_seed(seed, is_mix=mix is not None)
    check_out(out)
    options = SearchOptions(target=target, shortest=shortest, longest=shortest)
    search = knob_search(
        script_or_mix_of(script, mix, typing),
        on,
        vary,
        users=users,
        limit_each=texts_of(limit_each),
        targets=target,
        settings=RunSettings(think, typing, texts_of(set), limit, None, meters, driver),
        trial_s=knob_trial_s(options, on),
        most_trials=trials,
        seed=seed,
        tariff=tariff,
        out=None if out is None else Path(out),
    )
    with failed_runs_named(out):
        return find_knob(search, progress, trial_progress)
