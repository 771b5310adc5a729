"""Runs a script with users on a system: checks all that can be checked, then drives, then sums up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgo import _loadgo
from loadgo.measures.tariff import tariff_on
from loadgo.notation import quantities
from loadgo.running import bundled
from loadgo.running.folders import new_folder
from loadgo.running.host import USUAL, Driver
from loadgo.running.prepared import HERE, Drive, Progress, Settings, Told, prepared
from loadgo.running.stopping import asked_to_stop

if TYPE_CHECKING:
    from loadgo.measures.fail_if import Finding
    from loadgo.measures.fail_if_grammar import Condition
    from loadgo.measures.summary import Summary
    from loadgo.prediction.predict import Drawing


@dataclass(frozen=True)
class Run:
    """A run that is over: where its records are, and what they come to. It can be given wherever a run's folder can."""

    folder: Path
    outcome: str
    """`done`, `stopped` or `failed`."""
    summary: Summary
    findings: tuple[Finding, ...]
    """What each `fail_if` condition came to."""
    notes: tuple[str, ...] = ()
    """What was cleared away or could not be, and what this host did not give."""

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
    users: int | None = None,
    passes: int | None = None,
    duration: float | str | None = None,
    think: str | None = None,
    typing: float | str | None = None,
    arrivals: float | str | None = None,
    warm_up: float | str | None = None,
    until: str | None = None,
    seed: int = 1,
    set: Sequence[str] = (),
    limit: str | None = None,
    usage_every: int | None = None,
    meters: str | None = None,
    driver: Driver = USUAL,
    tariff: str = "default",
    fail_if: Sequence[str] = (),
    out: str | Path | None = None,
    command: Sequence[str] = (),
    progress: Progress | None = None,
    draws: int | None = 0,
) -> Run:
    """Loads the system `on` with `users` who type `script` (a bundled name or a path), and sums up what happened.

    `on` is `here`, this host; or a simulated machine: a bundled one's name, or the path of a machine file, of which
    `set` changes values (`processors.speed=2`). `users` is 1 by default; in an open load (`arrivals` a second) it is
    how many arrive, by default as many as `duration` holds. Users do `passes` passes (the script's number by default),
    or type until `duration` (seconds, or `2min`) is over, or `until` there is enough (`interactions=1e6`,
    `precision(p90)=2%`). `think` and `typing` replace the script's; `none` takes them away. `out` is the run's folder,
    by default a new one in `runs/`. For hosts: usage is read for every `usage_every`-th interaction of a user, by
    default each, or every 64th where nobody thinks; `meters` are the kernel's: `none`, `cheap` or `exact`, by default
    cheap where the host allows them, else none; `limit` is what the users may have; `driver` says how the driver
    itself runs. `progress` is called about three times a second with what there is to tell. `command` is kept in
    `run.toml`. `draws` is for a machine that was fitted: so often it is run again with parameters drawn from the fit's
    covariance, so that the run is a prediction whose interval carries their doubt; None is 20 where there is one.

    Raises `ValueError` for what makes no sense, `errors.Mistake` for a script with a mistake, and the other errors of
    `loadgo.errors` for what the system refuses; all of them before the first user logs in where that can be known.
    An interrupt ends the run in order: it is then `stopped`, and its records are whole up to there.
    """
    source = bundled.find(script)
    load = {
        "arrivals_per_second": None if arrivals is None else quantities.arrivals_per_second(arrivals),
        "users": _users(users, arrivals, duration),
        "duration_s": None if duration is None else quantities.span_s(duration),
        "warm_up_s": None if warm_up is None else quantities.span_s(warm_up),
        "until": None if until is None else _loadgo.parse_until(until),
        "seed": _seed(seed),
    }
    ready = prepared(source, on, Settings(think, typing, tuple(set), limit, usage_every, meters, driver))
    if on == HERE and draws:
        raise ValueError("--draws predicts with a simulated machine: name one with --on")
    # In an open load users come, do their passes and leave; only those of a closed one stay until the time is up.
    endless = arrivals is None and (duration is not None or until is not None)
    load["passes"] = _passes(passes, ready.script["passes"], endless=endless)
    drawing = None if on == HERE or draws == 0 else _drawing(ready.options, draws, seed)
    job = _Job(
        source=source,
        drive=ready.drive,
        options={"script": source.asked, "command": list(command), **ready.options, **load},
        folder=new_folder(out, source.path.stem, datetime.now(UTC)),
        conditions=_conditions(fail_if, list(dict.fromkeys(name for _, name in ready.script["lines"]))),
    )
    tariff_on(tariff, ready.system)
    told = _driven(job, progress)
    if on != HERE:
        told["notes"] = [*told["notes"], *_transfers_kept(job)]
    if drawing is not None and told["outcome"] == "done":
        _foretold(job, drawing, progress)
    return _summed_up(job, told, tariff)


def _drawing(options: dict[str, Any], draws: int | None, seed: int) -> Drawing | None:
    """What is to be drawn of a fitted machine; loaded only here, since most runs predict nothing."""
    from loadgo.prediction.predict import drawing

    return drawing(options["machine_text"], options["set"], draws, seed, file=options["machine"])


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


def _foretold(job: _Job, drawing: Drawing, progress: Progress | None) -> None:
    """Does the job again as often as is drawn, below its own folder."""
    from loadgo.prediction.predict import predict

    def again(set: tuple[str, ...], seed: int, folder: Path, go_on: Callable[[], bool]) -> None:
        options = job.options | {"set": [*set, *job.options["set"]], "seed": seed}
        folder.parent.mkdir(exist_ok=True)
        job.drive(job.source.text, options, str(folder), lambda _told: go_on())

    predict(again, drawing, job.folder, job.options["seed"], progress)


def _users(users: int | None, arrivals: float | str | None, duration: float | str | None) -> int:
    if users is not None:
        return quantities.user_count(users)
    if arrivals is None:
        return 1
    if duration is None:
        raise ValueError("an open load needs the number of users that arrive, or for how long they arrive")
    return quantities.user_count(math.ceil(quantities.arrivals_per_second(arrivals) * quantities.span_s(duration)))


def _passes(passes: int | None, script_passes: int, *, endless: bool) -> int | None:
    """How many passes each user does; None where something else ends an `endless` load."""
    if passes is not None and passes < 1:
        raise ValueError(f"{passes} passes cannot be done: at least 1")
    return passes if passes is not None or endless else script_passes


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed {seed} is out of range: it lies between 0 and 2^63 - 1")
    return seed


def _conditions(fail_if: Sequence[str], commands: list[str]) -> tuple[Condition, ...]:
    if not fail_if:
        return ()
    from loadgo.measures.fail_if_grammar import check_commands, parse

    conditions = tuple(parse(text) for text in fail_if)
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
    return Run(folder=job.folder, outcome=str(told["outcome"]), summary=summary, findings=findings, notes=notes)


def _found(condition: Condition, summary: Summary) -> Finding:
    """What `condition` came to; a command that nobody happened to type leaves it untold."""
    from loadgo.measures.fail_if import Finding, evaluate
    from loadgo.measures.fail_if_grammar import FailIfError

    try:
        return evaluate(condition, summary)
    except FailIfError as mistake:
        return Finding(holds=None, text=str(mistake))
