"""Interleaved experiments: pairs of short runs, one of each variant in random order, until the verdict is known.

Two runs on the same host differ even without a change: other work comes and goes, memory fills, clock rates change.
The two runs of a pair are close in time, have the same seed, and come in either order, so most of that cancels. The
rest shows in the scatter of the pairs, and the interval is computed from that scatter.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Unpack

from loadgo.errors import BadArgument, LoadgoError, Refused
from loadgo.hosts.address import SSH_SCHEME
from loadgo.hosts.fleet import is_fleet, read_fleet, user_ranges
from loadgo.notation.figures import counted, in_words, seconds
from loadgo.notation.margin import DEFAULT_MARGIN_SHARE, margin_share
from loadgo.notation.quantities import span_s
from loadgo.pairing.reference import ReferenceWork
from loadgo.pairing.results import DEFAULT_MOST_PAIRS, End, Experiment, LeftOut, Letter, Pair
from loadgo.pairing.run_figures import RUN_MEASURES, RunFigures, figures_of
from loadgo.pairing.variant import Variant
from loadgo.records.run_file import make_folder
from loadgo.records.runs import EXPERIMENT_FILE
from loadgo.running.bundled import find_script
from loadgo.running.day_arrivals import day_rates
from loadgo.running.elsewhere.kept_connections import keep_connections
from loadgo.running.folders import failed_runs_named, new_folder
from loadgo.running.host import limit_warnings
from loadgo.running.load import Load, LoadKeywords, Metering, with_keywords
from loadgo.running.prepared import (
    THIS_HOST,
    ReportProgress,
    RunSettings,
    is_host,
    parse_script_file,
    prepare_systems,
)
from loadgo.running.run import Run, load_options, run
from loadgo.running.stopping import StopRequest, catch_stop_signals
from loadgo.stats.repeated_interval import FEWEST_OBSERVATIONS

USUAL_LOAD = Load(duration=10.0)
"""The load by default: each run types for ten seconds after its warm-up."""
DECISIVE_MEASURES = ("response", "cpu")
"""The measures that need a verdict by default."""
USUAL_LOGIN = "sh"
"""The log-in of a script that names none: a shell on this host."""
MOST_LEFT_OUT_RUNS = 6
"""After this many runs that were left out, the experiment ends with what is known."""

Progress = Callable[[str], None]


def ab(
    a: Variant | str | Path,
    b: Variant | str | Path,
    *,
    sudo: bool = False,
    load: Load = USUAL_LOAD,
    margin: str | float = DEFAULT_MARGIN_SHARE,
    measures: Sequence[str] = DECISIVE_MEASURES,
    most_pairs: int = DEFAULT_MOST_PAIRS,
    time_limit: float | str | None = None,
    tariff: str = "default",
    out: str | Path | None = None,
    reference: bool = True,
    progress: Progress | None = None,
    run_progress: ReportProgress | None = None,
    **plain: Unpack[LoadKeywords],
) -> Experiment:
    """Runs two variants in turn, in pairs of runs, until the difference of B from A is known.

        result = loadgo.ab("light", loadgo.Variant("light", limit="cpus=1"), users=8, duration="10s")
        print(result.change("response").relative, result.change("response").interval)

    Args:
        a: The first variant: a script, or a `Variant`, which is a script with a system, limits, and a command before
            each run.
        b: The second variant. The same variant twice shows how much runs of one system differ by themselves.
        sudo: Whether the agents on other hosts run by `sudo`.
        load: The load of each run. Its fields are keywords too, as in `loadgo.run`: `users`, `duration`, `think` and
            others.
        margin: The relative change that is too small to matter, such as `5%`.
        measures: The measures that must have a verdict: `response`, `p90 response`, `cpu`, `throughput`. A verdict is
            known if the interval leaves out 0, or lies within `margin`.
        most_pairs: The largest number of pairs.
        time_limit: The longest time of the experiment, in seconds or as a text such as `3min`.
        tariff: Prices of the resources: a tariff's name, `NAME:SHIFT`, or the path of a TOML file.
        out: The new folder of all runs and of `experiment.json`. By default one in `runs/`.
        reference: Whether a reference work runs beside each run on this host, so that processor time is compared at
            equal speed of the processors. It takes about 2 % of them.
        progress: A function that is called with a line of text after each pair.
        run_progress: A function that is called about three times a second with the state of the present run: a dict
            as `loadgo.run` reports it, with the pair and the variant as `step`.

    Returns:
        `Experiment` with the relative change of each measure and its 95 % interval, which holds at whatever pair the
        experiment ends. A run that lost records, or whose driver was late, is left out, and its pair is run again.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Refused: The command before a run fails.
        loadgo.errors.LoadgoError: As `loadgo.run` raises them.

    The runs of a pair have the same seed, and their order is random. `loadgo.stats.repeated_interval` has the
    sources of the intervals.
    """
    if load is USUAL_LOAD and ("passes" in plain or "until" in plain):
        load = Load()
    if plain.get("limit_each") is not None:
        raise BadArgument("`limit_each` is for `run` and `capacity`").about("limit_each")
    load, limit, metering = with_keywords(load, None, Metering(), plain)
    variants = {"A": with_login(_variant(a, limit)), "B": with_login(_variant(b, limit))}
    _check(variants["A"], variants["B"], measures, most_pairs, sudo=sudo)
    for variant in variants.values():
        if variant.is_on_other_host:
            _check_settings(variant, load, metering, sudo=sudo)
    folder = new_folder(out, f"ab-{Path(variants['A'].script).stem}", datetime.now(UTC))
    with failed_runs_named(out):
        if folder.exists() and any(folder.iterdir()):
            raise BadArgument(f"`out`: {folder} is not empty: name a new folder").about("out")
    experiment = Experiment(
        variants["A"], variants["B"], load, margin_share(margin), tuple(measures), (), (), None, folder
    )
    limit_s = None if time_limit is None else span_s(time_limit, "time_limit")
    running = _RunningExperiment(experiment, metering, tariff, progress, most_pairs, limit_s, run_progress, sudo)
    is_here = variants["A"].on == variants["B"].on == THIS_HOST
    with keep_connections(), failed_runs_named(out), ReferenceWork(is_used=reference and is_here) as running.reference:
        return running.all_pairs()


@dataclass
class _RunningExperiment:
    """An experiment in progress: runs pair after pair, and writes the result after each."""

    experiment: Experiment
    metering: Metering
    tariff: str
    progress: Progress | None
    most_pairs: int
    limit_s: float | None
    run_progress: ReportProgress | None
    sudo: bool
    reference: ReferenceWork | None = None
    attempts: int = 0
    """Number of pairs that were begun."""
    firsts: list[Letter] = field(default_factory=list)
    """The variants that begin the next pairs, the next one last."""

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        self.order = random.Random(self.experiment.load.seed)

    def all_pairs(self) -> Experiment:
        """Runs pairs until there is a reason to end."""
        self._report([*self._limit_warnings(), self._length_in_words(), *self._time_limit_warnings()])
        with catch_stop_signals() as stop:
            while (end := "stopped" if stop.is_set() else self._end()) is None:
                try:
                    self._next_pair(stop)
                except (LoadgoError, OSError) as error:
                    if self.experiment.pairs:
                        error.add_note(f"pairs that were complete before the error: see {self.experiment.folder}")
                    raise
                self._write_result()
                if not stop.is_set():
                    self._report_progress()
        self.experiment = replace(self.experiment, end=end)
        self._write_result()
        return self.experiment

    def _next_pair(self, stop: StopRequest) -> None:
        """Runs both variants, and adds the pair unless one of the runs was stopped or is left out."""
        self.attempts += 1
        first = self.firsts.pop() if self.firsts else self._draw_firsts()
        seed = self.experiment.load.seed + len(self.experiment.pairs)
        figures: dict[Letter, RunFigures] = {}
        for letter in (first, _other(first)):
            self._prepare(letter, stop)
            if stop.is_set():
                return
            try:
                finished = self._run(letter, seed)
            except KeyboardInterrupt:
                if not (self.experiment.pairs and stop.is_set()):
                    raise
                return
            if self.attempts == 1:
                self._write_result()
            if finished.outcome == "stopped":
                stop.set()
                return
            if reason := why_left_out(finished):
                left_out = LeftOut(letter, finished.folder, reason)
                self.experiment = replace(self.experiment, left_out=(*self.experiment.left_out, left_out))
                self.firsts.append(first)
                return
            figures[letter] = figures_of(finished, self.reference)
        pair = Pair(seed, first, figures["A"], figures["B"], self._progress(len(self.experiment.pairs) + 1))
        self.experiment = replace(self.experiment, pairs=(*self.experiment.pairs, pair))

    def _draw_firsts(self) -> Letter:
        """Draws which variant begins each of the next two pairs, and returns the first of them."""
        letters: list[Letter] = ["A", "B"]
        self.order.shuffle(letters)
        self.firsts.append(letters[1])
        return letters[0]

    def _end(self) -> End | None:
        """The reason to end before the next pair; None to go on."""
        experiment = self.experiment
        if experiment.decided:
            return "decided"
        if len(experiment.pairs) >= self.most_pairs:
            return "most pairs"
        if len(experiment.left_out) >= MOST_LEFT_OUT_RUNS:
            return "left out too often"
        if experiment.pairs and self._is_time_up(len(experiment.pairs)):
            return "time limit"
        return None

    def _progress(self, pairs: int) -> float:
        """The part of the experiment that is over after so many pairs: 1 if no further pair may begin."""
        if pairs >= self.most_pairs or self._is_time_up(pairs):
            return 1.0
        spent_share = 0.0 if self.limit_s is None else (time.monotonic() - self.began) / self.limit_s
        return max(pairs / self.most_pairs, spent_share)

    def _is_time_up(self, pairs: int) -> bool:
        """Whether a pair that begins now would end after the time limit, by the mean time of so many pairs."""
        if self.limit_s is None:
            return False
        spent_s = time.monotonic() - self.began
        return spent_s + spent_s / max(1, pairs + len(self.experiment.left_out)) > self.limit_s

    def _prepare(self, letter: Letter, stop: StopRequest) -> None:
        """Runs the command before a run. If an interrupt ends the command too, the command has not failed."""
        try:
            (self.experiment.a if letter == "A" else self.experiment.b).prepare(letter)
        except Refused:
            if not stop.is_set():
                raise

    def _run(self, letter: Letter, seed: int) -> Run:
        variant = self.experiment.a if letter == "A" else self.experiment.b
        return run(
            variant.script,
            on=variant.on,
            sudo=self.sudo and variant.is_on_other_host,
            login=variant.login,
            load=replace(self.experiment.load, seed=seed),
            limit=variant.limit,
            metering=self.metering,
            set=variant.set,
            tariff=self.tariff,
            out=self.experiment.folder / f"{self.attempts:03}-{letter.lower()}",
            progress=self._run_reporter(letter),
        )

    def _run_reporter(self, letter: Letter) -> ReportProgress | None:
        """The function that reports the states of a run of the variant `letter`, with its pair."""
        report = self.run_progress
        if report is None:
            return None
        step = f"pair {len(self.experiment.pairs) + 1} of at most {self.most_pairs}, {letter}"
        return lambda state: report(state | {"step": step})

    def _write_result(self) -> None:
        """Writes `experiment.json`: after each pair, so that a kill loses one pair at most."""
        from loadgo.pairing.document import experiment_json

        make_folder(self.experiment.folder)
        temporary = self.experiment.folder / f".{EXPERIMENT_FILE}"
        temporary.write_text(experiment_json(self.experiment))
        temporary.replace(self.experiment.folder / EXPERIMENT_FILE)

    def _length_in_words(self) -> str:
        """The most pairs that the experiment runs, and the time that they take at most. Simulated time is no wait."""
        load = self.experiment.load
        run_s = math.inf if load.duration is None else span_s(load.duration, "duration")
        limit_s = math.inf if self.limit_s is None else self.limit_s
        longest_s = 2 * run_s * self.most_pairs
        each = "" if math.isinf(run_s) else f" of {seconds(run_s)} each"
        pairs = f"at most {counted(self.most_pairs, 'pair')} of runs{each}, until each measure has a verdict"
        if not self.is_live or math.isinf(min(longest_s, limit_s)):
            return pairs
        if limit_s < longest_s:
            return f"{pairs}: no pair begins that would end after {seconds(limit_s)}"
        return f"{pairs}: {seconds(longest_s)} at most, without log-ins and warm-up"

    @property
    def is_live(self) -> bool:
        """Whether a run takes real time: on a simulated machine it is virtual."""
        return is_host(self.experiment.a.on) or is_host(self.experiment.b.on)

    def _limit_warnings(self) -> list[str]:
        """The limits of the variants that this host cannot reach."""
        here = [variant for variant in (self.experiment.a, self.experiment.b) if variant.on == THIS_HOST]
        return list(dict.fromkeys(text for variant in here for text in limit_warnings(variant.limit)))

    def _time_limit_warnings(self) -> list[str]:
        """A line if the time limit is too short for an interval. On a simulated machine the runs' time is virtual."""
        load = self.experiment.load
        if self.limit_s is None or load.duration is None or not self.is_live:
            return []
        run_s = span_s(load.duration, "duration")
        runs = 2 * FEWEST_OBSERVATIONS
        if runs * run_s <= self.limit_s:
            return []
        return [
            f"The time limit of {seconds(self.limit_s)} is too short for a verdict: an interval needs "
            f"{FEWEST_OBSERVATIONS} pairs, whose {runs} runs of {seconds(run_s)} take more than "
            f"{seconds(runs * run_s)}, with log-ins and warm-up"
        ]

    def _report(self, lines: Iterable[str]) -> None:
        """Reports lines of progress."""
        if self.progress is not None:
            for line in lines:
                self.progress(line)

    def _report_progress(self) -> None:
        from loadgo.pairing.words import progress_line

        self._report([progress_line(self.experiment)])


def why_left_out(finished: Run) -> str:
    """The reason why a run does not measure its variant; empty for a good run."""
    if lost_hosts := [host.name for host in finished.summary.hosts if host.lost is not None]:
        return f"lost: {in_words(lost_hosts)}"
    is_one = str(finished.summary.run.system.get("name", "")).startswith(SSH_SCHEME)
    is_far = is_one or bool(finished.summary.hosts)
    # Without the meters of another host, as over a slow network, responses are whole.
    lost = sum(loss.count for loss in finished.summary.losses if not (is_far and loss.what == "meters"))
    if finished.outcome == "failed":
        return "it failed: " + "; ".join(finished.notes[-1:])
    if not finished.summary.driver.valid:
        return "the driver was late or was the bottleneck"
    if lost:
        return f"{lost} records were lost"
    return "" if finished.summary.everything.response.answered else "no line was answered"


def _variant(given: Variant | str | Path, limit: str | None) -> Variant:
    variant = given if isinstance(given, Variant) else Variant(given)
    return variant if variant.limit is not None or limit is None else replace(variant, limit=limit)


def with_login(variant: Variant) -> Variant:
    """The variant with the log-in of its script, if it has none itself and the script's is not the usual one."""
    if variant.on != THIS_HOST or variant.login is not None:
        return variant
    login = parse_script_file(find_script(variant.script))["login"]
    return variant if login == USUAL_LOGIN else replace(variant, login=login)


def _check(a: Variant, b: Variant, measures: Sequence[str], most_pairs: int, *, sudo: bool) -> None:
    if unknown := [measure for measure in measures if measure not in RUN_MEASURES]:
        raise BadArgument(f"`measures`: {unknown[0]!r} is not a measure: write one of {', '.join(RUN_MEASURES)}").about(
            "measures"
        )
    if not measures:
        raise BadArgument("`measures`: name at least one").about("measures")
    if most_pairs < 1:
        raise BadArgument(f"`most_pairs={most_pairs}` is too few: write at least 1").about("most_pairs")
    if is_host(a.on) != is_host(b.on):
        raise BadArgument(
            "one variant runs on a host and one on a simulated machine: compare them with `loadgo compare`"
        )
    if sudo and not (a.is_on_other_host or b.is_on_other_host):
        raise BadArgument("`sudo` is for another host: name one with `on`").about("sudo", "on")


def _check_settings(variant: Variant, load: Load, metering: Metering, *, sudo: bool) -> None:
    """Raises what a run of the variant would raise before its first log-in."""
    pace, meters = (load.think, load.typing), (metering.usage_every, metering.meters)
    settings = RunSettings(*pace, variant.set, variant.limit, *meters, login=variant.login)
    settings = replace(settings, working_sets=metering.working_sets)
    prepare_systems(find_script(variant.script), variant.on, settings, sudo=sudo)
    if is_fleet(variant.on):
        rates = day_rates(find_script(variant.script), load)
        user_ranges(read_fleet(variant.on), int(load_options(load, rates)["users"]))


def _other(letter: Letter) -> Letter:
    return "B" if letter == "A" else "A"
