"""Runs a script with users on a system: checks all that can be checked, then drives, then sums up."""

from __future__ import annotations

import math
import re
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgo import _loadgo, asked, bundled, on_host, on_machine
from loadgo.cost_tariff import tariff_on
from loadgo.errors import Mistake
from loadgo.on_host import USUAL, Driver

if TYPE_CHECKING:
    from loadgo.fail_if import Finding
    from loadgo.fail_if_grammar import Condition
    from loadgo.predict import Drawing
    from loadgo.summary import Summary

Told = dict[str, Any]
Progress = Callable[[Told], None]
Drive = Callable[[str, dict[str, Any], str, Callable[[Told], bool]], Told]


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
        "arrivals_per_second": None if arrivals is None else asked.arrivals_per_second(arrivals),
        "users": _users(users, arrivals, duration),
        "duration_s": None if duration is None else asked.span_s(duration),
        "warm_up_s": None if warm_up is None else asked.span_s(warm_up),
        "until": None if until is None else _loadgo.parse_until(until),
        "seed": _seed(seed),
        **_manners(think, typing),
    }
    told = _checked(source)
    # In an open load users come, do their passes and leave; only those of a closed one stay until the time is up.
    endless = arrivals is None and (duration is not None or until is not None)
    load["passes"] = _passes(passes, told["passes"], endless=endless)
    drive: Drive = _loadgo.run_host
    system: dict[str, Any] = {}
    drawing: Drawing | None = None
    if on == "here":
        if set or draws:
            option, does = ("set", "changes") if set else ("draws", "predicts with")
            raise ValueError(f"--{option} {does} a simulated machine: name one with --on")
        options = on_host.options(told["needs"], limit, usage_every, driver) | {"meters": on_host.meters(meters)}
    else:
        drive = _loadgo.run_machine
        prepared = on_machine.prepare(on, set, limit=limit, usage_every=usage_every, meters=meters, driver=driver)
        options, system = prepared.options, prepared.system
        drawing = None if draws == 0 else _drawing(options, draws, seed)
    job = _Job(
        source=source,
        drive=drive,
        options={"script": source.asked, "command": list(command), **options, **load},
        folder=new_folder(out, source.path.stem, datetime.now(UTC)),
        conditions=_conditions(fail_if, list(dict.fromkeys(name for _, name in told["lines"]))),
    )
    tariff_on(tariff, system)
    told = _driven(job, progress)
    if on != "here":
        told["notes"] = [*told["notes"], *_transfers_kept(job)]
    if drawing is not None and told["outcome"] == "done":
        _foretold(job, drawing, progress)
    return _summed_up(job, told, tariff)


def _drawing(options: dict[str, Any], draws: int | None, seed: int) -> Drawing | None:
    """What is to be drawn of a fitted machine; loaded only here, since most runs predict nothing."""
    from loadgo.predict import drawing

    return drawing(options["machine_text"], options["set"], draws, seed, file=options["machine"])


def _transfers_kept(job: _Job) -> list[str]:
    """Writes what remote jobs moved on a machine beside its tables, where the script has any; why not, in a note."""
    from loadgo.transfer_simulated import jobs_of, simulated_transfers

    jobs = jobs_of(job.source.text)
    if not jobs:
        return []
    from loadgo.tables import tables

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
    from loadgo.predict import predict

    def again(set: tuple[str, ...], seed: int, folder: Path, go_on: Callable[[], bool]) -> None:
        options = job.options | {"set": [*set, *job.options["set"]], "seed": seed}
        folder.parent.mkdir(exist_ok=True)
        job.drive(job.source.text, options, str(folder), lambda _told: go_on())

    predict(again, drawing, job.folder, job.options["seed"], progress)


def _users(users: int | None, arrivals: float | str | None, duration: float | str | None) -> int:
    if users is not None:
        return asked.user_count(users)
    if arrivals is None:
        return 1
    if duration is None:
        raise ValueError("an open load needs the number of users that arrive, or for how long they arrive")
    return asked.user_count(math.ceil(asked.arrivals_per_second(arrivals) * asked.span_s(duration)))


def _passes(passes: int | None, script_passes: int, *, endless: bool) -> int | None:
    """How many passes each user does; None where something else ends an `endless` load."""
    if passes is not None and passes < 1:
        raise ValueError(f"{passes} passes cannot be done: at least 1")
    return passes if passes is not None or endless else script_passes


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed {seed} is out of range: it lies between 0 and 2^63 - 1")
    return seed


def _manners(think: str | None, typing: float | str | None) -> dict[str, Any]:
    """What replaces the script's think time and typing rate (0: at once); a key that is absent leaves the script's."""
    manners: dict[str, Any] = {}
    if think is not None:
        manners["think"] = _loadgo.parse_think(think)
    if typing is not None:
        manners["typing"] = asked.chars_per_second(typing) or 0.0
    return manners


def _checked(source: bundled.Source) -> dict[str, Any]:
    try:
        return _loadgo.parse_script(source.text)
    except Mistake as mistake:
        raise mistake.in_file(str(source.path)) from None


def new_folder(out: str | Path | None, name: str, now: datetime) -> Path:
    """Where the run is written: `out`, else a new folder where runs are kept, named for the moment and the script."""
    if out is not None:
        return Path(out)
    from loadgo.runs import runs_folder

    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "script"
    first = runs_folder() / f"{now:%Y-%m-%dT%H-%M-%S}-{slug}"
    numbered = (first.with_name(f"{first.name}-{number}") for number in range(2, 1000))
    return first if not first.exists() else next(folder for folder in numbered if not folder.exists())


def _conditions(fail_if: Sequence[str], commands: list[str]) -> tuple[Condition, ...]:
    if not fail_if:
        return ()
    from loadgo.fail_if_grammar import check_commands, parse

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


class Stop(threading.Event):
    """Set when a signal has asked for the end."""

    number = 0
    """The signal that asked last; 0: none has."""


@contextmanager
def asked_to_stop() -> Iterator[Stop]:
    """What SIGINT, SIGTERM and SIGHUP set while this lasts; a second SIGINT raises `KeyboardInterrupt`."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def asked_to_stop(number: int, _frame: object) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.number = number
        stop.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, asked_to_stop) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _summed_up(job: _Job, told: Told, tariff: str) -> Run:
    from loadgo.summary import summarize
    from loadgo.tables import tables

    summary = summarize(tables(job.folder), tariff=tariff)
    findings = tuple(_found(condition, summary) for condition in job.conditions)
    notes = tuple(str(note) for note in told["notes"])
    return Run(folder=job.folder, outcome=str(told["outcome"]), summary=summary, findings=findings, notes=notes)


def _found(condition: Condition, summary: Summary) -> Finding:
    """What `condition` came to; a command that nobody happened to type leaves it untold."""
    from loadgo.fail_if import Finding, evaluate
    from loadgo.fail_if_grammar import FailIfError

    try:
        return evaluate(condition, summary)
    except FailIfError as mistake:
        return Finding(holds=None, text=str(mistake))
