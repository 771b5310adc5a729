"""The search for the capacity of a system in users: checks the arguments, runs trials, and assembles the result."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from loadgo.distribution.choice import WorkerChoice
from loadgo.errors import BadArgument
from loadgo.notation.figures import counted, people
from loadgo.prediction.predict import DrawPlan, plan_draws
from loadgo.running.elsewhere.kept_connections import keep_connections
from loadgo.running.folders import check_out, failed_runs_named
from loadgo.running.host import DEFAULT_DRIVER, Driver
from loadgo.running.prepared import ReportProgress as ReportTrial
from loadgo.running.prepared import RunSettings
from loadgo.running.run import texts_of
from loadgo.running.stopping import catch_stop_signals
from loadgo.sizing.curve import LoadPoint
from loadgo.sizing.knobs.knob import parse_class_limits
from loadgo.sizing.mix import UserMix, check_seed, script_or_mix_of
from loadgo.sizing.models.models import models_of
from loadgo.sizing.options import SearchOptions, trial_lengths
from loadgo.sizing.report.answer import AnswerContext, answer_of
from loadgo.sizing.report.limiting import first_saturation
from loadgo.sizing.search.fit_doubt import FitDoubt, NoFitDoubt, doubt_of_fit, with_doubt
from loadgo.sizing.search.narrowing import narrowing_of, remedy_of
from loadgo.sizing.search.neighbours import neighbours_of
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.points import points_of
from loadgo.sizing.search.quiet_host import with_quiet_capacity
from loadgo.sizing.search.results import Capacity, Neighbours, ReportProgress, SearchLimits, TrialRecord
from loadgo.sizing.search.rounds import SearchResult, TrialLengths
from loadgo.sizing.search.time_left import DrawnSearchLines, search_limits_in_words
from loadgo.sizing.search.trial_log import trial_record
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.site import TrialSite, keep_result, max_users_on, prepare_site
from loadgo.sizing.site_search import SiteSearch, search_all_drawn
from loadgo.sizing.targets import check_commands, check_resources, parse_targets

DEFAULT_MOST_TRIALS_MACHINE, DEFAULT_MOST_TRIALS_HOST = 60, 24
"""Defaults of the largest number of trials; a trial on a host takes real time."""
MOST_TRIAL_INTERACTIONS = 200_000
"""Most interactions of one trial."""


def capacity(
    script: str | Path | None = None,
    *,
    target: str | Sequence[str],
    on: str = "here",
    sudo: bool = False,
    max_users: int | None = None,
    mix: str | None = None,
    within: int | None = None,
    think: str | None = None,
    typing: float | str | None = None,
    set: Sequence[str] = (),
    limit: str | None = None,
    limit_each: str | Sequence[str] = (),
    meters: str | None = None,
    driver: Driver = DEFAULT_DRIVER,
    shortest: float | str | None = None,
    longest: float | str | None = None,
    trials: int | None = None,
    seed: int = 1,
    tariff: str = "default",
    out: str | Path | None = None,
    draws: int | None = None,
    workers: int | str | None = None,
    executor: Executor | None = None,
    progress: ReportProgress | None = None,
    trial_progress: ReportTrial | None = None,
) -> Capacity:
    """Finds how many users a system holds so that every target is met.

        result = loadgo.capacity("typical-user", target="p90 < 2s", on="multics-645")
        print(result.in_words, result.interval)

    Args:
        script: A bundled script's name, or the path of a script. None with `mix`.
        target: One or more conditions: `p90 < 2s`, `mean(edit) < 500ms`, `errors < 1%`, `busy(processors) < 80%`,
            `throughput > 3/s`. All must hold.
        on: `here`, which is this host, another host (`ssh://USER@HOST:PORT`), the path of a list of hosts, or a
            simulated machine's name or file. Users of other hosts log in through their sshd, and all trials share one
            log-in of loadgo to each host.
        sudo: Whether the agent on another host runs by `sudo`.
        max_users: The largest number of users in a trial. By default 10,000 on a simulated machine, 8 on each host.
        mix: Users of several classes instead of `script`, such as `heavy.toml=1,ordinary.toml=3`.
        within: The search ends when the ends of the answer's interval differ by at most this many users. By default
            2 % of the answer, and at least 1.
        think: The law of think times instead of the script's, such as `exponential(8s)`.
        typing: The typing rate instead of the script's, in characters a second or as a text such as `12 chars/s`.
        set: Values of the machine file, as `KEY=VALUE`.
        limit: Limits of all users of a host together, such as `memory=256M,cpus=1`.
        limit_each: Limits of each user, such as `cpus=2,pids=200`; on a simulated machine `cpus` and `nice` alone. In
            a mix, `CLASS:cpus=0.5` replaces them for the users of one class.
        meters: The meters of a host: `none`, `cheap`, `cheap,locks`, `cheap,profile`, `sampled` or `exact`.
        driver: How the driver runs: its priority and processor.
        shortest: The shortest trial, in seconds or as a text such as `30s`, by the system's clock. By default 30 s on
            a host.
        longest: The longest trial. By default 5 min on a host.
        trials: The largest number of trials. By default 60 on a simulated machine, 24 on a host.
        seed: The first trial's seed. Each further trial has the next seed.
        tariff: Prices of the resources: a tariff's name, `NAME:SHIFT`, or the path of a TOML file.
        out: The folder that keeps the trials' runs, and the result as `capacity.json`. By default the runs are in
            `runs/` for a host, and not kept on a machine.
        draws: For a fitted machine, the number of further searches, each with parameters drawn from the fit's
            covariance. They add the uncertainty of the fit to the answer's interval. By default 20; 0 for none.
        workers: For a simulated machine, who makes these searches: a number of processes, `dask`, or the address of a
            Dask scheduler. By default threads of this process. The answer is the same.
        executor: Any executor of `concurrent.futures`, in place of `workers`.
        progress: A function that is called with a sentence about each trial.
        trial_progress: A function that is called about three times a second with the state of the present trial: a
            dict as `loadgo.run` reports it, with the trial's number as `step`.

    Returns:
        `Capacity` with the number of users (`answer`), its interval, the resource that is saturated first, and models
        of the curve. An interrupt ends the search; the result then has what the complete trials show.

    Raises:
        loadgo.errors.BadArgument: An argument makes no sense; it is a `ValueError`.
        loadgo.errors.Mistake: The script or the machine file has a mistake.
        loadgo.errors.Refused, loadgo.errors.BadRun: As `loadgo.run` raises them.

    The first trials are short, and those near the answer are long, as in MLRsearch (IETF draft bmwg-mlrsearch).
    """
    check_seed(seed, is_mix=mix is not None)
    check_out(out)
    options = SearchOptions(
        target=target,
        max_users=max_users,
        mix=mix,
        within=within,
        shortest=shortest,
        longest=longest,
        trials=trials,
        seed=seed,
        tariff=tariff,
        out=None if out is None else Path(out),
        draws=draws,
        choice=WorkerChoice(workers, executor),
        sudo=sudo,
        limit_each=texts_of(limit_each),
    )
    settings = RunSettings(think, typing, tuple(set), limit, None, meters, driver)
    with failed_runs_named(out):
        answer = find_capacity(script, on, options, settings, progress, trial_progress)
    return answer if out is None else keep_result(answer, Path(out))


def find_capacity(
    script: str | Path | None,
    on: str,
    options: SearchOptions,
    settings: RunSettings,
    progress: ReportProgress | None,
    trial_progress: ReportTrial | None = None,
) -> Capacity:
    """Finds the capacity of `on` for users who type `script`. Raises the errors of `loadgo.capacity`."""
    script_or_mix = script_or_mix_of(script, options.mix, settings.typing)
    classes = [each.name for each in script_or_mix.classes] if isinstance(script_or_mix, UserMix) else []
    everybody, by_class = parse_class_limits(options.limit_each, classes)
    site = prepare_site(
        script_or_mix,
        on,
        replace(settings, limit_each=everybody),
        sudo=options.sudo,
        tariff=options.tariff,
        out=options.out,
        class_limits=by_class,
    )
    options.choice.check(is_simulated=not site.live)
    search = SiteSearch(site, search_goal(options, site), trial_lengths(options, site), options.seed)
    goal, lengths = search.goal, search.lengths
    plan = _draw_plan(site, options)
    if progress is not None:
        for warning in site.limit_warnings:
            progress(warning)
        progress(lengths.search_in_words(goal.most_trials) if site.live else search_limits_in_words(goal))
        if plan is None and options.choice.is_named:
            progress("no draws of a fit are searched, and trials follow each other: the workers have nothing to do")
    with catch_stop_signals() as stop, options.choice.opened() as workers, keep_connections():
        search_result = search.result(stop, progress, None if progress is None else trial_progress)
        doubt: FitDoubt | NoFitDoubt | None = None
        if plan is not None and search_result.trials:
            if progress is not None and not stop.is_set():
                progress(f"the machine was fitted: {len(plan.draws)} further searches with drawn parameters")
            end = stop.part()
            search_all = search_all_drawn(search, workers, end, DrawnSearchLines(progress, len(plan.draws)))
            doubt = doubt_of_fit(search_result.outcome, plan.draws, plan.uncertain.users, goal, search_all, end)
    return assemble_capacity(search_result, site, goal, options, lengths, stop, doubt)


def _draw_plan(site: TrialSite, options: SearchOptions) -> DrawPlan | None:
    """The draws of a fitted machine; None on a host, and for a machine without a covariance of its parameters."""
    if site.live:
        if options.draws:
            raise BadArgument("`draws` needs a fitted machine: name one with `on`").about("draws", "on")
        return None
    machine = site.options
    return plan_draws(machine["machine_text"], machine["set"], options.draws, options.seed, file=machine["machine"])


def search_goal(options: SearchOptions, site: TrialSite) -> SearchGoal:
    """The goal of the search. Targets or options that make no sense raise `ValueError`."""
    targets = parse_targets(options.target)
    check_commands(targets, site.commands)
    check_resources(targets, site.resources)
    if not any(target.sense == "most" for target in targets):
        raise BadArgument(
            f"target {targets[0].text!r} is a floor, and more users only come nearer to it: add a ceiling, such as "
            "'p90 < 2s'"
        )
    if options.within is not None and options.within < 1:
        raise BadArgument(f"`within={options.within}` is too narrow: write at least 1").about("within")
    if options.trials is not None and options.trials < 1:
        raise BadArgument(f"`trials={options.trials}` is too few: write at least 1; an answer takes about 10").about(
            "trials"
        )
    return SearchGoal(
        targets=targets,
        max_users=max_users_on(site, options.max_users),
        fewest_users=site.fewest_users,
        within=options.within,
        most_interactions=MOST_TRIAL_INTERACTIONS,
        most_trials=options.trials or (DEFAULT_MOST_TRIALS_HOST if site.live else DEFAULT_MOST_TRIALS_MACHINE),
        live=site.live,
    )


def assemble_capacity(
    search_result: SearchResult,
    site: TrialSite,
    goal: SearchGoal,
    options: SearchOptions,
    lengths: TrialLengths,
    stop: threading.Event,
    doubt_or_reason: FitDoubt | NoFitDoubt | None = None,
) -> Capacity:
    """Assembles the capacity from the result of the search, with models and notes.

    `doubt_or_reason` is None for a machine that was not fitted.
    """
    used = search_result.basis
    points = points_of(used, goal)
    classes = site.mix.classes if site.mix is not None else ()
    all_trials = (*search_result.trials, *search_result.left_out)
    refused = {trial.users: trial.refused for trial in all_trials if trial.refused}
    servers = site.servers_in(search_result.in_order)
    models = models_of(points, servers, classes)
    first = first_saturation(models)
    outcome = search_result.outcome
    neighbours = with_quiet_capacity(neighbours_of(used), outcome, used, goal, points, servers)
    invalid = tuple(trial.why for trial in used if not trial.valid)
    doubt = doubt_or_reason if isinstance(doubt_or_reason, FitDoubt) else None
    remedy = remedy_of(outcome, [trial for trial in all_trials if not trial.valid], doubt)
    narrowing = None if remedy else narrowing_of(outcome, used, goal, lengths.shortest_s)
    stopped = search_result.stopped or (isinstance(doubt_or_reason, NoFitDoubt) and stop.is_set())
    has_prices = any(point.cost_user_hour is not None for point in points)
    tariff_label = site.tariff.label if has_prices and options.tariff != "default" else ""
    context = AnswerContext(first, refused, stopped, neighbours, narrowing, invalid, doubt, tariff_label)
    context = replace(context, currency=site.tariff.currency, is_fit_doubtful=bool(site.fit_warnings), remedy=remedy)
    answer = answer_of(with_doubt(outcome, doubt), points, goal, context)
    return Capacity(
        script=site.source.requested,
        on=site.on,
        settings=site.settings,
        targets=goal.targets,
        end=answer.end,
        answer=answer.users,
        interval=answer.interval,
        confidence=answer.confidence,
        in_words=answer.in_words,
        has_cost=answer.has_cost,
        binding=answer.binding,
        saturates_first=first,
        points=points,
        interactions_spent=sum(trial.spent for trial in all_trials),
        trials=len(all_trials),
        seconds=sum(trial.elapsed_s for trial in all_trials),
        classes=classes,
        limits=SearchLimits(goal.max_users, options.max_users is not None, lengths.longest_s, goal.most_trials),
        servers=servers,
        currency=site.tariff.currency if has_prices else "",
        tariff=f"{site.tariff.label}: {site.tariff.in_words()}" if has_prices else "",
        models=models,
        notes=(
            *_search_notes(search_result, points),
            *_unknown_neighbours(site, neighbours),
            *_no_doubt_notes(doubt_or_reason),
        ),
        each_trial=_trial_records(search_result, goal),
        neighbours=neighbours,
        narrowing=narrowing,
        fit_doubt=doubt,
        fit_warnings=site.fit_warnings,
        limit_warnings=site.limit_warnings,
    )


def _trial_records(search_result: SearchResult, goal: SearchGoal) -> tuple[TrialRecord, ...]:
    """The records of all trials, in the order in which they ran."""
    in_order = search_result.in_order
    return tuple(trial_record(trial, goal, is_used=_is_used(trial, search_result)) for trial in in_order)


def _is_used(trial: CapacityTrial, search_result: SearchResult) -> bool:
    return any(trial is used for used in search_result.basis)


def _no_doubt_notes(doubt: FitDoubt | NoFitDoubt | None) -> tuple[str, ...]:
    if not isinstance(doubt, NoFitDoubt):
        return ()
    return (f"the uncertainty of the fit: {doubt.why}, so the interval is for the machine exactly as fitted.",)


def _unknown_neighbours(site: TrialSite, neighbours: Neighbours | None) -> tuple[str, ...]:
    """A note on other work of another host, if its share was not measured."""
    if neighbours is not None or not site.is_other_host:
        return ()
    if site.hosts > 1:
        return (
            f"the share of other work in the time of the hosts of {site.on}: what sshd does for the users is not told "
            "apart from it. loadgo meter --on ssh://HOST --for 10s --full shows the programs of each.",
        )
    return (
        f"the share of other work in the time of {site.on}: what sshd does for the users is not told apart from it. "
        f"loadgo meter --on {site.on} --for 10s --full shows its programs, when nobody is logged in for a trial.",
    )


def _search_notes(search_result: SearchResult, points: Sequence[LoadPoint]) -> tuple[str, ...]:
    notes = []
    unused = [trial for trial in search_result.left_out if not _is_used(trial, search_result)]
    unsteady = sum(1 for trial in unused if trial.valid and not (trial.cut_short or trial.interrupted))
    if unsteady:
        notes.append(f"{counted(unsteady, 'trial')} without a steady state, repeated with twice the length.")
    invalid = [trial for trial in unused if not trial.valid]
    notes += [f"a trial with {people(trial.users)}, which is not valid: {trial.why}." for trial in invalid]
    early = sum(1 for trial in search_result.trials if trial.cut_short)
    censored = sum(trial.censored for trial in search_result.trials)
    if early:
        lines = f", with {counted(censored, 'line')} in flight" if censored else ""
        notes.append(
            f"the rest of {counted(early, 'trial')} that ended early, since a target was missed widely{lines}."
        )
    if unclear := sum(trial.unclear for trial in search_result.trials):
        notes.append(f"{counted(unclear, 'line')} near the limit, sent too late to show on which side of it.")
    refused = [trial for trial in search_result.trials if trial.refused]
    notes += [f"{people(trial.refused)} of {trial.users:,} who could not log in." for trial in refused]
    if any(point.lost for point in points):
        notes.append("lost records: figures come from the records that were kept.")
    return tuple(notes)
