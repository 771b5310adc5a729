"""Finds the value of a limit that keeps every target: checks the arguments, runs the trials, and answers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from loadgo.errors import BadArgument
from loadgo.notation.figures import counted, people
from loadgo.notation.quantities import user_count
from loadgo.running.host import parse_limit_each
from loadgo.running.prepared import THIS_HOST, RunSettings, is_host
from loadgo.running.prepared import ReportProgress as ReportTrial
from loadgo.running.stopping import catch_stop_signals
from loadgo.sizing.knobs.answer import KnobAnswer, answer_of, remedy, safe_value, taken_in_words
from loadgo.sizing.knobs.knob import Knob, check_not_fixed, parse_class_limits, parse_knob
from loadgo.sizing.knobs.recommend import recommended_files
from loadgo.sizing.knobs.results import KnobCapacity, KnobPoint, RecommendedFile
from loadgo.sizing.knobs.rounds import KnobRounds, run_knob_rounds
from loadgo.sizing.knobs.search import KnobStanding, KnobTrial, standing_of
from loadgo.sizing.mix import UserMix
from loadgo.sizing.search.early_end import reported_trial, trial_watcher
from loadgo.sizing.search.outcomes import SearchGoal
from loadgo.sizing.search.points import point_of
from loadgo.sizing.search.results import ReportProgress
from loadgo.sizing.search.rounds import TrialLengths
from loadgo.sizing.search.trial_log import trial_record
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.site import TrialLoad, TrialSite, prepare_site, run_trial, settings_in_words, write_result
from loadgo.sizing.targets import check_commands, check_resources, parse_targets

_ALIKE = "Neither does any other limit over what the host has."
"""The part of a warning about the largest value that is about the others which the host cannot reach."""
DEFAULT_MOST_TRIALS, DEFAULT_MOST_MACHINE_TRIALS = 16, 32
"""Largest number of trials by default, on a host and on a simulated machine."""
RESULT_FILE, RECOMMENDED_FOLDER = "capacity-of-limit.json", "recommended"
"""The file of the result, and the folder of the files to put in place, beside the trials."""


@dataclass(frozen=True)
class KnobSearch:
    """A search over a limit, with everything that it needs."""

    script_or_mix: str | Path | UserMix
    on: str
    knob: Knob
    users: int
    targets: str | Sequence[str]
    settings: RunSettings
    class_limits: Mapping[str, str]
    trial_s: float
    """Length of each trial, without its warm-up."""
    most_trials: int
    seed: int
    tariff: str
    out: Path | None

    def site_at(self, value: float) -> TrialSite:
        """The system with this value of the limit. Raises the errors of `loadgo.run`."""
        settings, by_class = self.knob.settings_at(value, self.settings, self.class_limits)
        return prepare_site(
            self.script_or_mix, self.on, settings, tariff=self.tariff, out=self.out, class_limits=by_class
        )


def knob_search(
    script_or_mix: str | Path | UserMix,
    on: str,
    vary: str,
    *,
    users: int | None,
    limit_each: Sequence[str],
    targets: str | Sequence[str],
    settings: RunSettings,
    trial_s: float,
    most_trials: int | None,
    seed: int,
    tariff: str,
    out: Path | None,
) -> KnobSearch:
    """The checked arguments of a search. Raises `BadArgument`."""
    if on != THIS_HOST and is_host(on):
        raise BadArgument(
            f"`vary` is for this host and for machines: on={on} has no groups of users that could be limited one by one"
        ).about("vary", "on")
    mix = script_or_mix if isinstance(script_or_mix, UserMix) else None
    classes = [] if mix is None else [mix_class.name for mix_class in mix.classes]
    knob = parse_knob(vary)
    if on != THIS_HOST and (knob.scope, knob.name) != ("limit-each", "cpus"):
        raise BadArgument(
            f"`vary={vary}` is for a host: on a machine, limit-each.cpus and limit-each.CLASS.cpus can be varied"
        ).about("vary", "on")
    if knob.user_class and knob.user_class not in classes:
        known = ", ".join(classes) or "none: name classes with `mix`"
        raise BadArgument(f"`vary={vary}`: there is no class {knob.user_class!r}; the classes: {known}").about("vary")
    count = users if users is not None or mix is None else sum(mix_class.weight for mix_class in mix.classes)
    if count is None:
        raise BadArgument("`vary` needs the number of users: `users=20`, or a mix of classes").about("vary", "users")
    everybody, by_class = parse_class_limits(limit_each, classes)
    check_not_fixed(knob, settings.limit, everybody, by_class)
    search = KnobSearch(
        script_or_mix=script_or_mix,
        on=on,
        knob=knob,
        users=user_count(count),
        targets=targets,
        settings=replace(settings, limit_each=everybody),
        class_limits=by_class,
        trial_s=trial_s,
        most_trials=most_trials or (DEFAULT_MOST_TRIALS if is_host(on) else DEFAULT_MOST_MACHINE_TRIALS),
        seed=seed,
        tariff=tariff,
        out=out,
    )
    _goal(search, search.site_at(knob.high))
    return search


def find_knob(
    search: KnobSearch, progress: ReportProgress | None = None, trial_progress: ReportTrial | None = None
) -> KnobCapacity:
    """Runs the search. An interrupt ends it with what the complete trials show. Raises the errors of `loadgo.run`."""
    site = search.site_at(search.knob.high)
    goal = _goal(search, site)
    if progress is not None:
        for warning in site.limit_warnings:
            progress(warning)
        limits = TrialLengths(search.trial_s, search.trial_s).search_in_words(search.most_trials)
        progress(f"{people(search.users)}, {search.knob.text}: {limits}")

    def report(each: KnobTrial) -> None:
        if progress is not None:
            progress(_trial_in_words(search, each, goal))

    with catch_stop_signals() as stop:
        run_one = partial(_trial, search, goal, stop, trial_progress)
        return result_of(search, site, goal, run_knob_rounds(run_one, search.knob, goal, stop, report))


def _goal(search: KnobSearch, site: TrialSite) -> SearchGoal:
    targets = parse_targets(search.targets)
    check_commands(targets, site.commands)
    check_resources(targets, site.resources)
    if any(target.sense == "least" for target in targets):
        raise BadArgument("with `vary` each target is a ceiling, such as 'p90(edit) < 1s'").about("vary", "target")
    return SearchGoal(targets, search.users, None, 1, search.most_trials, live=site.live)


def _trial(
    search: KnobSearch,
    goal: SearchGoal,
    stop: threading.Event,
    report: ReportTrial | None,
    tried_value: float,
    index: int,
) -> CapacityTrial:
    site = search.site_at(tried_value)
    step = f"trial {index + 1} of at most {search.most_trials}: {search.knob.option(tried_value)}"
    watch = reported_trial(trial_watcher(stop, goal.targets, site.live), report, search.trial_s, step)
    return run_trial(site, goal.targets, TrialLoad(search.users, search.seed + index, None, search.trial_s), watch)


def _trial_in_words(search: KnobSearch, each: KnobTrial, goal: SearchGoal) -> str:
    figures = point_of([each.trial], goal.targets, live=goal.live)
    shown = [
        f"{verdict.target.text}: {verdict.standing}" + ("" if each.trial.valid else f"; not valid: {each.trial.why}")
        for verdict in figures.verdicts
    ]
    return f"{search.knob.in_words(each.value)}, {each.trial.counted:,} interactions: {', '.join(shown)}"


def result_of(search: KnobSearch, site: TrialSite, goal: SearchGoal, rounds: KnobRounds) -> KnobCapacity:
    """The answer from the rounds of a search. Keeps it in the search's folder, if it has one."""
    trials, in_order = rounds.trials, rounds.in_order
    used = {each.trial.index for each in trials}
    standing = standing_of(search.knob, trials, goal)
    answer = answer_of(search.knob, standing, goal.targets, len(in_order), stopped=rounds.stopped)
    is_undecided = not rounds.why and ("open" in standing.stands.values() or not rounds.given_up)
    advice = remedy(answer, search.trial_s, search.most_trials) if is_undecided else ""
    answer = replace(answer, words=" ".join(filter(None, [answer.words, *rounds.remarks, advice])))
    points = tuple(
        KnobPoint(
            value,
            stands,
            point_of([each.trial for each in trials if each.value == value], goal.targets, live=goal.live),
        )
        for value, stands in standing.stands.items()
    )
    knob_capacity = KnobCapacity(
        script=site.source.requested,
        on=search.on,
        knob=search.knob,
        users=search.users,
        targets=goal.targets,
        end=answer.end,
        side=standing.side,
        answer=answer.value,
        interval=answer.interval,
        in_words=answer.words,
        points=points,
        classes=() if site.mix is None else site.mix.classes,
        each_trial=tuple(trial_record(each.trial, goal, is_used=each.trial.index in used) for each in in_order),
        values=tuple(each.value for each in in_order),
        seconds=sum(each.trial.elapsed_s for each in in_order),
        settings=settings_in_words(search.settings, search.class_limits),
        limit_warnings=tuple(f"{warning} {_ALIKE}" for warning in site.limit_warnings),
        why=rounds.why,
        notes=tuple(
            f"a trial with {search.knob.option(each.value)}, which is not valid: {each.trial.why}."
            for each in rounds.left_out
            if not each.trial.valid
        ),
        recommended=(),
    )
    knob_capacity = replace(knob_capacity, recommended=_recommended(search, answer, standing, knob_capacity))
    return knob_capacity if search.out is None else keep_files(knob_capacity, search.out)


def _recommended(
    search: KnobSearch, answer: KnobAnswer, standing: KnobStanding, answered: KnobCapacity
) -> tuple[RecommendedFile, ...]:
    """The files for the value to recommend, with the evidence; none without an answer."""
    from loadgo.sizing.knobs.trust import trust_lines

    value = safe_value(search.knob, answer, standing)
    if value is None or answer.end == "no value":
        return ()
    settings, _ = search.knob.settings_at(value, search.settings, {})
    mix = search.script_or_mix
    load = mix.source.requested if isinstance(mix, UserMix) else str(mix)
    load = f"{people(search.users)} ({load}), {counted(len(answered.each_trial), 'trial')} on {_place(search.on)}"
    evidence = [
        f"loadgo capacity, {datetime.now().astimezone():%Y-%m-%d}: {load}.",
        answer.words,
        *trust_lines(answered),
        taken_in_words(search.knob, answer, standing),
    ]
    return recommended_files(parse_limit_each(settings.limit_each), evidence, search.knob)


def _place(on: str) -> str:
    """The system of a search in words."""
    return "this host" if on == THIS_HOST else f"the simulated machine {on}"


def keep_files(answered: KnobCapacity, folder: Path) -> KnobCapacity:
    """The result, after writing it and the recommended files below `folder`, beside the trials."""
    from loadgo.sizing.knobs.document import knob_json

    files = {RESULT_FILE: knob_json(answered)}
    files |= {f"{RECOMMENDED_FOLDER}/{file.path}": file.content for file in answered.recommended}
    if note := write_result(folder, files):
        return replace(answered, notes=(*answered.notes, note))
    return replace(answered, folder=folder / RECOMMENDED_FOLDER) if answered.recommended else answered
