"""A search for the capacity of one system, as data: it can run here, and with drawn parameters on workers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from loadgo.distribution.own_code import CodeIdentity, check_code, own_code
from loadgo.distribution.tasks import run_tasks
from loadgo.distribution.workers import Workers
from loadgo.prediction.draws import Settings
from loadgo.running.prepared import ReportProgress as ReportTrial
from loadgo.sizing.search.early_end import reported_trial, trial_watcher
from loadgo.sizing.search.fit_doubt import SearchAllDrawn, search_in_threads
from loadgo.sizing.search.outcomes import NextTrial, SearchGoal, SearchOutcome
from loadgo.sizing.search.results import ReportProgress
from loadgo.sizing.search.rounds import SearchResult, TrialLength, TrialLengths, run_search
from loadgo.sizing.search.time_left import DrawnSearchLines
from loadgo.sizing.search.trials import CapacityTrial
from loadgo.sizing.site import TrialLoad, TrialSite, run_trial


@dataclass(frozen=True)
class SiteSearch:
    """All that the search on a site depends on. On a simulated machine it can be pickled."""

    site: TrialSite
    goal: SearchGoal
    lengths: TrialLengths
    seed: int

    def result(
        self, stop: threading.Event, report: ReportProgress | None = None, report_trial: ReportTrial | None = None
    ) -> SearchResult:
        """Runs the search until it has an outcome, or until `stop` is set."""

        def run_one(next_trial: NextTrial, seed: int, length: TrialLength | None) -> CapacityTrial:
            load = _trial_load(next_trial, seed, length, self.site, self.lengths)
            watcher = trial_watcher(stop, self.goal.targets, self.site.live)
            step = f"trial {seed - self.seed + 1} of at most {self.goal.most_trials}"
            watch = reported_trial(watcher, report_trial, load.seconds, step)
            return run_trial(self.site, self.goal.targets, load, watch)

        return run_search(run_one, self.goal, seed=self.seed, lengths=self.lengths, progress=report, stop=stop)

    def drawn(self, settings: Settings, goal: SearchGoal) -> SiteSearch:
        """The search on the same system with drawn parameters; its trials are not kept."""
        options = {**self.site.options, "set": [*settings, *self.site.options["set"]]}
        return replace(self, site=replace(self.site, options=options, out=None), goal=goal)


def _trial_load(
    next_trial: NextTrial, seed: int, length: TrialLength | None, site: TrialSite, lengths: TrialLengths
) -> TrialLoad:
    """The load of one trial. Without a length, it takes a number of interactions, or on a host the shortest time."""
    if length is not None:
        return TrialLoad(next_trial.users, seed, length.warm_up_s, length.seconds)
    if site.live:
        return TrialLoad(next_trial.users, seed, None, lengths.shortest_s)
    return TrialLoad(next_trial.users, seed, None, None, next_trial.interactions)


@dataclass(frozen=True)
class DrawnSearchTask:
    """The search with one draw of the parameters, with all that a worker needs."""

    number: int
    search: SiteSearch
    code: CodeIdentity

    @property
    def name(self) -> str:
        """The draw in words."""
        return f"the search with draw {self.number + 1}"


def compute_drawn_search(task: DrawnSearchTask) -> SearchOutcome:
    """Runs a drawn search. Raises the errors of a run, and `Refused` in a worker with other code."""
    check_code(task.code)
    return task.search.result(threading.Event()).outcome


def search_all_drawn(
    search: SiteSearch, workers: Workers | None, stop: threading.Event, lines: DrawnSearchLines
) -> SearchAllDrawn:
    """The function that searches the capacity of all drawn machines: by workers, or by threads of this process."""
    if workers is not None:
        return _search_on_workers(search, workers, stop, lines)

    def search_one(settings: Settings, goal: SearchGoal) -> SearchOutcome:
        outcome = search.drawn(settings, goal).result(stop).outcome
        lines.count_done()
        return outcome

    return search_in_threads(search_one, stop)


def _search_on_workers(
    search: SiteSearch, workers: Workers, stop: threading.Event, lines: DrawnSearchLines
) -> SearchAllDrawn:
    def search_all(draws: Sequence[Settings], goal: SearchGoal) -> list[SearchOutcome | None]:
        outcomes: dict[int, SearchOutcome] = {}

        def keep(task: DrawnSearchTask, outcome: SearchOutcome) -> None:
            outcomes[task.number] = outcome
            lines.count_done()

        tasks = [
            DrawnSearchTask(number, search.drawn(settings, goal), own_code()) for number, settings in enumerate(draws)
        ]
        run_tasks(tasks, compute_drawn_search, workers, keep, stop)
        return [outcomes.get(number) for number in range(len(draws))]

    return search_all
