"""Runs a script with users on a system: checks all that can be checked, then drives, then sums up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from loadgo import _loadgo
from loadgo.errors import BadArgument, naming
from loadgo.measures.tariff import tariff_on
from loadgo.notation import quantities
from loadgo.running import bundled
from loadgo.running.folders import new_folder
from loadgo.running.host import USUAL, Driver
from loadgo.running.load import Limits, Load, Metering, Plain, with_plain
from loadgo.running.prepared import HERE, Drive, Progress, Settings, Told, prepared
from loadgo.running.stopping import asked_to_stop

if TYPE_CHECKING:
    from loadgo.measures.fail_if import ConditionResult
    from loadgo.measures.summary import Summary
    from loadgo.notation.comparisons import Condition
    from loadgo.prediction.predict import DrawPlan

ONE_USER = Load()
USUAL_METERING = Metering()


@dataclass(frozen=True)
class Run:
    """A run that is over: where its records are, and what they come to. It can be given wherever a run's folder can."""

    folder: Path
    outcome: str
    """`done`, `stopped` or `failed`."""
    summary: Summary
    findings: tuple[ConditionResult, ...]
    """What each `fail_if` condition came to."""
    notes: tuple[str, ...] = ()
    """What was cleared away or could not be, and what this host did not give."""
    left_behind: tuple[str, ...] = ()
    """Texts about things that stay on this host, such as a file that cannot be removed: each with reason and remedy.

    `notes` have them too. An exception of `loadgo.run` has them as its own notes (`__notes__`).
    """

    @property
    def bad(self) -> bool:
        """Whether the finding is bad: a condition holds or cannot be told, records are lost, the driver was late."""
        lost = any(loss.count for loss in self.summary.losses)
        failed = any(finding.failed for finding in self.findings)
        return failed or lost or not self.summary.driver.valid or self.outcome == "failed"

    def __fspath__(self) -> str:
        return str(self.folder)


@dataclass(frozen=True)
class _Job:
    """A run that can begin: everything is checked."""

    source: bundled.Source
    drive: Drive
    options: dict[str, Any]
    folder: Path
    conditions: tuple[Condition, ...]


def run(
    script: str | Path,
    *,
    on: str = "here",
    load: Load = ONE_USER,
    limits: Limits | None = None,
    metering: Metering = USUAL_METERING,
    driver: Driver = USUAL,
    set: Sequence[str] = (),
    draws: int | None = 0,
    tariff: str = "default",
    fail_if: Sequence[str] = (),
    out: str | Path | None = None,
    command: Sequence[str] = (),
    progress: Progress | None = None,
    **plain: Unpack[Plain],
) -> Run:
    """Loads a system with users who type a script, records what happens, and sums it up.

        made = loadgo.run("typical-user", users=20, duration="10min", think="exponential(8s)")
        print(made.summary.everything.response.quantile("p90"), made.folder)

    `script` is a bundled script's name or a path. `on` is `here`, which is this host, or a simulated machine: a bundled
    machine's name or the path of a machine file, in which `set` changes values (`processors.speed=2`).

    `load` says what the users do, `limits` what users of a host may have, `metering` how a host is metered, `driver`
    how the driver itself runs. The common fields are keywords too, and a keyword wins over the value's field: `users`,
    `passes`, `duration`, `think`, `typing`, `arrivals`, `warm_up`, `until` and `seed` of `Load`, `meters` and
    `usage_every` of `Metering`, and `limit`, which is `limits` as a text: `memory=256M,cpus=1`.

    `out` is the folder of the records, by default a new one in `runs/`. `tariff` has the prices of the summary, and
    each condition of `fail_if` (`p90(edit) > 1s`) becomes a finding. `draws` is for a fitted machine: it runs that many
    times more, with parameters drawn from the fit's covariance, which gives the prediction an interval; None means 20
    for a fitted machine, and 0 for any other. `command` is kept in `run.toml`. `progress` is called about three times a
    second with a dict of what there is to tell, which always has `phase` and `folder`.

    Raises `BadArgument`, which is a `ValueError`; `Mistake` for a mistake in the script or in the machine file; and
    `Refused` or `BadRun` for what the system refuses. All checks that are possible come before the first log-in.
    An interrupt ends the run in order: its outcome is `stopped`, and its records are complete up to then. An exception
    of `progress` does so too and is raised again, and the outcome in `run.toml` is `failed`.
    """
    load, limit, metering = with_plain(load, limits, metering, plain)
    source = bundled.find(script)
    options = _load_options(load)
    settings = Settings(load.think, load.typing, tuple(set), limit, metering.usage_every, metering.meters, driver)
    ready = prepared(source, on, settings)
    if on == HERE and draws:
        raise BadArgument("`draws` predicts with a simulated machine: name one with `on`").about("draws", "on")
    # In an open load users come, do their passes and leave; only those of a closed one stay until the time is up.
    endless = load.arrivals is None and (load.duration is not None or load.until is not None)
    options["passes"] = _passes(load.passes, ready.script["passes"], endless=endless)
    plan = None if on == HERE or draws == 0 else _draw_plan(ready.options, draws, load.seed)
    job = _Job(
        source=source,
        drive=ready.drive,
        options={"script": source.asked, "command": list(command), **ready.options, **options},
        folder=new_folder(out, source.path.stem, datetime.now(UTC)),
        conditions=_conditions(fail_if, list(dict.fromkeys(name for _, name in ready.script["lines"]))),
    )
    tariff_on(tariff, ready.system)
    told = _driven(job, progress)
    if on != HERE:
        told["notes"] = [*told["notes"], *_transfers_kept(job)]
    if plan is not None and told["outcome"] == "done":
        _predict(job, plan, progress)
    return _summed_up(job, told, tariff)


def _draw_plan(options: dict[str, Any], draws: int | None, seed: int) -> DrawPlan | None:
    """What is to be drawn of a fitted machine; loaded only here, since most runs predict nothing."""
    from loadgo.prediction.predict import plan_draws

    return plan_draws(options["machine_text"], options["set"], draws, seed, file=options["machine"])


def _transfers_kept(job: _Job) -> list[str]:
    """Writes what remote jobs moved on a machine beside its tables, where the script has any; why not, in a note."""
    from loadgo.running.remote_jobs import jobs_of, simulated_transfers

    jobs = jobs_of(job.source.text)
    if not jobs:
        return []
    from loadgo.records.tables import tables

    rows = simulated_transfers(tables(job.folder), jobs, (job.folder / "machine.toml").read_text(encoding="utf-8"))
    if rows is None:
        return ["no job came to its end on a machine that says how many bytes it moves: there is no transfers.csv"]
    try:
        (job.folder / "transfers.csv").write_text(rows, encoding="utf-8")
    except OSError as refusal:
        return [f"transfers.csv is missing or cut short: {refusal.strerror}"]
    return []


def _predict(job: _Job, plan: DrawPlan, progress: Progress | None) -> None:
    """Does the job again as often as is drawn, below its own folder."""
    from loadgo.prediction.predict import predict

    def run_again(set: tuple[str, ...], seed: int, folder: Path, go_on: Callable[[], bool]) -> None:
        options = job.options | {"set": [*set, *job.options["set"]], "seed": seed}
        folder.parent.mkdir(exist_ok=True)
        job.drive(job.source.text, options, str(folder), lambda _told: go_on())

    predict(run_again, plan, job.folder, job.options["seed"], progress)


def _load_options(load: Load) -> dict[str, Any]:
    """The load as the Rust half reads it, but for the passes, which depend on the script."""
    duration_s = None if load.duration is None else quantities.span_s(load.duration, "duration")
    with naming("arrivals"):
        rate = None if load.arrivals is None else quantities.arrivals_per_second(load.arrivals)
    with naming("until"):
        until = None if load.until is None else _loadgo.parse_until(load.until)
    return {
        "arrivals_per_second": rate,
        "users": _users(load.users, rate, duration_s),
        "duration_s": duration_s,
        "warm_up_s": None if load.warm_up is None else quantities.span_s(load.warm_up, "warm_up"),
        "until": until,
        "seed": _seed(load.seed),
    }


def _users(users: int | None, rate: float | None, duration_s: float | None) -> int:
    if users is not None:
        return quantities.user_count(users)
    if rate is None:
        return 1
    if duration_s is None:
        raise BadArgument(
            "an open load needs the number of users that arrive, or for how long they arrive: `users` or `duration`"
        ).about("users", "duration")
    return quantities.user_count(math.ceil(rate * duration_s))


def _passes(passes: int | None, script_passes: int, *, endless: bool) -> int | None:
    """How many passes each user does; None where something else ends an `endless` load."""
    if passes is not None and passes < 1:
        raise BadArgument(f"{passes} passes cannot be done: at least 1")
    return passes if passes is not None or endless else script_passes


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise BadArgument(f"seed {seed} is out of range: it lies between 0 and 2^63 - 1")
    return seed


def _conditions(fail_if: Sequence[str], commands: list[str]) -> tuple[Condition, ...]:
    if not fail_if:
        return ()
    from loadgo.measures.fail_if_figures import check_commands, parse_run_condition

    conditions = tuple(parse_run_condition(text) for text in fail_if)
    for condition in conditions:
        check_commands(condition, commands)
    return conditions


def _driven(job: _Job, progress: Progress | None) -> Told:
    """Runs it; an interrupt or a termination signal stops it in order, a second interrupt at once."""
    with asked_to_stop() as stop:

        def go_on(told: Told) -> bool:
            if progress is not None:
                progress(told | {"folder": str(job.folder)})
            return not stop.is_set()

        return job.drive(job.source.text, job.options, str(job.folder), go_on)


def _summed_up(job: _Job, told: Told, tariff: str) -> Run:
    from loadgo.measures.summary import summarize
    from loadgo.records.tables import tables

    summary = summarize(tables(job.folder), tariff=tariff)
    findings = tuple(_found(condition, summary) for condition in job.conditions)
    notes = tuple(str(note) for note in told["notes"])
    return Run(
        folder=job.folder,
        outcome=str(told["outcome"]),
        summary=summary,
        findings=findings,
        notes=notes,
        left_behind=tuple(told["left_behind"]),
    )


def _found(condition: Condition, summary: Summary) -> ConditionResult:
    """What `condition` came to; a command that nobody happened to type leaves it untold."""
    from loadgo.measures.fail_if import ConditionResult, evaluate
    from loadgo.notation.comparisons import ConditionError

    try:
        return evaluate(condition, summary)
    except ConditionError as mistake:
        return ConditionResult(holds=None, text=mistake.pointed)
