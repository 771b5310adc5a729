"""Runs a script with users on a system: checks everything first, then runs, then summarises."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from loadgo import _loadgo
from loadgo.distribution.choice import WorkerChoice
from loadgo.documents.result import Result
from loadgo.errors import BadArgument, LoadgoError, Refused, naming
from loadgo.measures.tariff import tariff_on
from loadgo.notation import quantities
from loadgo.running import bundled
from loadgo.running.day_arrivals import DayRates, arrival_options, day_rates, user_count
from loadgo.running.folders import as_utf8, failed_runs_named, new_folder, refused_run_removed
from loadgo.running.host import DEFAULT_DRIVER, Driver
from loadgo.running.load import (
    Limits,
    Load,
    LoadKeywords,
    Metering,
    check_types,
    limits_of_each,
    with_keywords,
)
from loadgo.running.prepared import (
    PreparedRun,
    ReportProgress,
    RunDriver,
    RunProgress,
    RunSettings,
    prepare_run,
    prepare_systems,
)
from loadgo.running.stopping import catch_stop_signals

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from loadgo.measures.fail_if_figures import ConditionResult
    from loadgo.measures.summary import Summary
    from loadgo.prediction.predict import DrawPlan

DEFAULT_LOAD = Load()
DEFAULT_METERING = Metering()


@dataclass(frozen=True, repr=False)
class Run(Result, presented_by="loadgo.reporting.presentation:presentation"):
    """A run that has ended: its folder and its summary. Each call that accepts a run's folder also accepts a `Run`."""

    folder: Path
    outcome: str
    """`done`, `stopped` or `failed`."""
    summary: Summary
    notes: tuple[str, ...] = ()
    """Notes about leftovers, removed or not, and about requests that this host did not grant."""
    left_behind: tuple[str, ...] = ()
    """Texts about things that stay on this host, such as a file that cannot be removed: each with reason and remedy.

    `notes` have them too. An exception of `loadgo.run` has them as its own notes (`__notes__`).
    """

    @property
    def findings(self) -> tuple[ConditionResult, ...]:
        """The result of each `fail_if` condition."""
        return self.summary.fail_if

    @property
    def bad(self) -> bool:
        """Whether a condition holds or cannot be decided, something is lost, the driver was late, or the run failed."""
        has_losses = any(loss.count for loss in self.summary.losses if not loss.tolerated)
        lost = [*(host.lost for host in self.summary.hosts), *(driver.lost for driver in self.summary.drivers)]
        has_lost_hosts = any(loss is not None and not loss.tolerated for loss in lost)
        has_failed = any(finding.failed for finding in self.findings)
        is_whole = not has_losses and not has_lost_hosts and self.outcome != "failed"
        return has_failed or not is_whole or not self.summary.driver.valid

    def __fspath__(self) -> str:
        return str(self.folder)


@dataclass(frozen=True)
class _CheckedRun:
    """A run that can begin, since everything is checked."""

    source: bundled.Source
    run_script: RunDriver
    options: dict[str, Any]
    folder: Path
    fail_if: tuple[str, ...]


def run(
    script: str | Path,
    *,
    on: str = "here",
    sudo: bool = False,
    login: str | None = None,
    without_lost: int = 0,
    driven_from: Sequence[str] = (),
    load: Load = DEFAULT_LOAD,
    limits: Limits | None = None,
    metering: Metering = DEFAULT_METERING,
    driver: Driver = DEFAULT_DRIVER,
    set: Sequence[str] = (),
    draws: int | None = 0,
    workers: int | str | None = None,
    executor: Executor | None = None,
    tariff: str = "default",
    fail_if: Sequence[str] = (),
    out: str | Path | None = None,
    command: Sequence[str] = (),
    progress: ReportProgress | None = None,
    **keywords: Unpack[LoadKeywords],
) -> Run:
    """Loads a system with users who type a script, records what happens, and sums it up.

        run = loadgo.run("typical-user", users=20, duration="10min", think="exponential(8s)")
        print(run.summary.everything.response.quantile("p90"), run.folder)

    Args:
        script: The name of a bundled script, or the path of a script.
        on: This host (`here`), another host (`ssh://USER@HOST:PORT`), the name of a bundled machine, or the path of a
            machine file, which is simulated. Users of another host log in through its sshd (see docs/hosts-users.md).
            The path of a list of hosts (`hosts.toml`) spreads the users over them.
        sudo: Whether the agent on another host runs by `sudo`.
        login: The command that logs users in to this host, in place of the script's: `ssh host`, `su - guest`.
        without_lost: With several hosts, the number of hosts that may be lost in a run that counts.
        driven_from: The hosts that drive the users of another host, each a range of them: names as ssh knows them,
            `here` for this host, or the path of a list of hosts with weights. By default this host drives all.
        load: The users' work. Its common fields are keywords too, and a keyword replaces the field: `users`, `passes`,
            `duration`, `think`, `typing`, `arrivals`, `warm_up`, `until` and `seed`.
        limits: The resources that the users of a host may have. The keyword `limit` is the same as a text:
            `memory=256M,cpus=1`. The keyword `limit_each` has those of each user, which are the field `each` of
            `limits`: `cpus=2,memory=1G,swap=0,pids=200,nice=5,io=20M`.
        metering: How a host is metered. Its fields `meters`, `usage_every` and `working_sets` are keywords too.
        driver: How the driver itself runs.
        set: Changes of values in the machine file, such as `processors.speed=2`.
        draws: For a fitted machine, the number of further runs with parameters drawn from the fit's covariance. They
            give the prediction its interval. None means 20 for a fitted machine, and 0 for any other.
        workers: For a simulated machine, who makes the further runs: a number of processes, `dask`, or the address of a
            Dask scheduler. By default threads of this process. The figures are the same.
        executor: Any executor of `concurrent.futures`, in place of `workers`.
        tariff: Prices of the resources: a tariff's name, `NAME:SHIFT`, or the path of a TOML file.
        fail_if: Conditions such as `p90(edit) > 1s`. Each becomes a finding of the run.
        out: The new folder of the records. By default one in `runs/`.
        command: The command line that asked for the run. It is saved in `run.toml`.
        progress: A function that is called about three times a second with a dict. The dict always has `phase` and
            `folder`, and the rule that ends the load: `duration_s` and `until`, which may be None.

    Returns:
        `Run` with the folder of the records and their summary. After an interrupt its outcome is `stopped`, and the
        records are complete up to then.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Mistake: The script or the machine file has a mistake.
        loadgo.errors.Refused: The system cannot do what the run needs.
        loadgo.errors.BadRun: The system refuses the run after its start.

    All possible checks come before the first log-in. An exception of `progress` ends the run in order and is raised
    again. The outcome in `run.toml` is then `failed`.
    """
    load, limit, metering = with_keywords(load, limits, metering, keywords)
    choice = WorkerChoice(workers, executor)
    source = bundled.find_script(script)
    options = load_options(load, day_rates(source, load))
    settings = RunSettings(
        load.think,
        load.typing,
        texts_of(set),
        limit,
        metering.usage_every,
        metering.meters,
        driver,
        login,
        without_lost,
        texts_of(driven_from),
        limits_of_each(limits, keywords),
        working_sets=metering.working_sets,
    )
    if settings.driven_from and options["until"] is not None:
        raise BadArgument(
            "`until` needs the rows of all users while they come, and with `driven_from` each host has its own: end "
            "the load with `duration` or `passes`"
        ).about("until", "driven_from", "duration", "passes")
    ready = prepare_systems(source, on, settings, sudo=sudo)
    choice.check(is_simulated=ready.machine is not None)
    if ready.machine is None and draws:
        raise BadArgument("`draws` predicts with a simulated machine: name one with `on`").about("draws", "on")
    options["passes"] = _passes(load, ready)
    plan = None if ready.machine is None or draws == 0 else _draw_plan(ready.options, draws, load.seed)
    checked = _CheckedRun(
        source=source,
        run_script=ready.run_script,
        options={"script": source.requested, "command": as_utf8(command), **ready.options, **options},
        folder=new_folder(out, source.path.stem, datetime.now(UTC)),
        fail_if=texts_of(fail_if),
    )
    if checked.fail_if:
        from loadgo.measures.fail_if_figures import check_conditions

        check_conditions(checked.fail_if, list(dict.fromkeys(name for _, name in ready.script["lines"])))
    tariff_on(tariff, ready.system)
    with interrupts_name(checked.folder), failed_runs_named(out), refused_run_removed(checked.folder):
        result = _run_until_stopped(checked, progress)
        if ready.machine is not None:
            result["notes"] = [*result["notes"], *_write_transfers(source, checked.folder)]
        if plan is not None and result["outcome"] == "done":
            _predict(checked, plan, choice, progress)
        return _summarised_run(checked, result, tariff)


@contextmanager
def interrupts_name(folder: Path) -> Iterator[None]:
    """Gives an interrupt that ends the call a note with the folder, if the run has begun."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        is_named = any(str(folder) in note for note in getattr(interrupt, "__notes__", ()))
        if folder.is_dir() and not is_named:
            interrupt.add_note(f"the records up to then are in {folder}")
        raise


def simulate_run(
    drive: RunDriver, script: str | Path, on: str, load: Load, *, set: Sequence[str], out: Path, stop: threading.Event
) -> Path:
    """Runs a script on a simulated machine into the folder `out`, by `drive`, and without a summary.

    Raises what `run` raises, and `Refused` if `stop` is set before the end.
    """
    check_types(vars(load))
    source = bundled.find_script(script)
    options = load_options(load, day_rates(source, load))
    ready = prepare_run(source, on, RunSettings(load.think, load.typing, texts_of(set)))
    options["passes"] = _passes(load, ready)
    folder = new_folder(out, source.path.stem, datetime.now(UTC))
    options = {"script": source.requested, "command": [], **ready.options, **options, "fail_if": []}
    drive(source.text, options, str(folder), lambda _progress: not stop.is_set())
    if stop.is_set():
        raise Refused("the run was stopped")
    _write_transfers(source, folder)
    return folder


def _passes(load: Load, ready: PreparedRun) -> int | None:
    """Users of an open load leave after their passes; those of a closed load repeat the script until the load ends."""
    repeats = load.arrivals is None and (load.duration is not None or load.until is not None)
    return passes_of_users(load.passes, ready.script["passes"], until_load_ends=repeats)


def texts_of(given: str | Sequence[str]) -> tuple[str, ...]:
    """The texts of an argument that takes several; a text alone is one of them."""
    return (given,) if isinstance(given, str) else tuple(given)


def _draw_plan(options: dict[str, Any], draws: int | None, seed: int) -> DrawPlan | None:
    """The draws of a fitted machine. The import is local, since most runs predict nothing."""
    from loadgo.prediction.predict import plan_draws

    return plan_draws(options["machine_text"], options["set"], draws, seed, file=options["machine"])


def _write_transfers(source: bundled.Source, folder: Path) -> list[str]:
    """Writes the transfers of remote jobs on a machine into the run's folder. Returns notes about missing ones."""
    from loadgo.running.remote_jobs import remote_jobs, simulated_transfers

    jobs = remote_jobs(source.text)
    if not jobs:
        return []
    from loadgo.records.tables import tables

    rows = simulated_transfers(tables(folder), jobs, (folder / "machine.toml").read_text(encoding="utf-8"))
    if rows is None:
        return ["no job succeeded, or the machine file has no `network_bytes` for it: there is no transfers.csv"]
    try:
        (folder / "transfers.csv").write_text(rows, encoding="utf-8")
    except OSError as refusal:
        return [f"transfers.csv is missing or cut short: {refusal.strerror}"]
    return []


def _predict(checked: _CheckedRun, plan: DrawPlan, choice: WorkerChoice, progress: ReportProgress | None) -> None:
    """Repeats the run for each draw, in folders below its own, and writes the prediction.

    An error or an interrupt has a note with the folder of the run, which is complete.
    """
    from loadgo.prediction.predict import predict
    from loadgo.running.worker_runs import run_crew

    try:
        with run_crew(choice) as crew:

            def run_again(set: tuple[str, ...], seed: int, folder: Path, go_on: Callable[[], bool]) -> None:
                options = checked.options | {"set": [*set, *checked.options["set"]], "seed": seed}
                folder.parent.mkdir(exist_ok=True)
                crew.drive(checked.source.text, options, str(folder), lambda _progress: go_on())

            predict(run_again, plan, checked.folder, checked.options["seed"], progress, threads=crew.threads)
    except (LoadgoError, OSError, KeyboardInterrupt) as error:
        error.add_note(f"the run of the machine as fitted is complete, without a prediction: see {checked.folder}")
        raise


def load_options(load: Load, rates: DayRates = ()) -> dict[str, Any]:
    """The load in the form of `_loadgo.run_host`, except for the passes; `rates` are as `day_rates` has them."""
    duration_s = None if load.duration is None else quantities.span_s(load.duration, "duration")
    warm_up_s = None if load.warm_up is None else quantities.span_s(load.warm_up, "warm_up")
    length_s = None if duration_s is None else duration_s + (warm_up_s or 0.0)
    arrivals = arrival_options(load.arrivals, rates, length_s)
    with naming("until"):
        until = None if load.until is None else _loadgo.parse_until(load.until)
    return {
        **arrivals,
        "users": user_count(load.users, arrivals["arrivals_per_second"], length_s),
        "duration_s": duration_s,
        "warm_up_s": warm_up_s,
        "until": until,
        "seed": quantities.seed(load.seed),
    }


def passes_of_users(passes: int | None, script_passes: int, *, until_load_ends: bool) -> int | None:
    """Number of passes of each user. None for users who repeat the script until the load ends."""
    if passes is not None and passes < 1:
        raise BadArgument(f"{passes} passes are impossible: at least 1")
    return passes if passes is not None or until_load_ends else script_passes


def _run_until_stopped(checked: _CheckedRun, progress: ReportProgress | None) -> RunProgress:
    """Runs the script. An interrupt or a termination signal stops it in order, a second interrupt at once."""
    known = {"folder": str(checked.folder)} | {name: checked.options[name] for name in ("duration_s", "until")}
    with catch_stop_signals() as stop:

        def go_on(state: RunProgress) -> bool:
            if progress is not None:
                progress(state | known)
            return not stop.is_set()

        options = checked.options | {"fail_if": list(checked.fail_if)}
        return checked.run_script(checked.source.text, options, str(checked.folder), go_on)


def _summarised_run(checked: _CheckedRun, last_progress: RunProgress, tariff: str) -> Run:
    from loadgo.measures.fail_if import with_conditions
    from loadgo.measures.summary import summarize
    from loadgo.records.tables import tables

    summary = with_conditions(summarize(tables(checked.folder), tariff=tariff), checked.fail_if)
    notes = [str(note) for note in last_progress["notes"]]
    return Run(
        folder=checked.folder,
        outcome=str(last_progress["outcome"]),
        summary=summary,
        notes=(*notes, *_keep_results(checked.folder, summary.fail_if)),
        left_behind=tuple(last_progress["left_behind"]),
    )


def _keep_results(folder: Path, findings: Sequence[ConditionResult]) -> list[str]:
    """Writes the results of the conditions into `run.toml`, which has their texts from the start.

    Returns a note if that fails.
    """
    if not findings:
        return []
    import tomlkit

    from loadgo.records.manifest import with_checksum_line

    entries = tomlkit.aot()
    for finding in findings:
        known = {} if finding.holds is None else {"holds": finding.holds}
        entries.append(tomlkit.item({"condition": finding.condition, **known, "text": finding.text}))
    path, part = folder / "run.toml", folder / "run.toml.part"
    try:
        run_toml = tomlkit.parse(path.read_text(encoding="utf-8"))
        run_toml["fail_if"] = entries
        part.write_bytes(with_checksum_line(tomlkit.dumps(run_toml).encode()))
        part.replace(path)
    except OSError as refusal:
        part.unlink(missing_ok=True)
        return [f"run.toml has no results of the conditions: {refusal.strerror}"]
    return []
