"""How users were served, in words: who was answered, what went wrong, and the response times of the slowest command."""

from __future__ import annotations

from loadgo.measures.run_warnings import RunFacts, facts_in
from loadgo.measures.summary import CommandSummary, Summary
from loadgo.notation.figures import as_code, capitalized, counted, duration, number, people, plain, quantile
from loadgo.reporting.simulated_machine import simulated


def nothing_served(summary: Summary) -> str:
    """The answer of a run without an answered line: why there is none."""
    if summary.sessions.users and summary.sessions.refused == summary.sessions.users:
        return f"Nobody was served: all {number(summary.sessions.users)} log-ins were refused."
    if summary.sessions.users and summary.sessions.died == summary.sessions.users:
        return f"Nobody was served: all {number(summary.sessions.users)} sessions died before a line was answered."
    if _number_lost(summary, "record"):
        return "No record of a line was kept: there is nothing to report."
    if waiting := _number_lost(summary, "interaction"):
        return f"No line was answered: {counted(waiting, 'line')} waited when the run was stopped."
    return "Nobody typed a line: there is nothing to report."


def who(summary: Summary) -> str:
    """The number of users: of those who logged in, else of those who were to."""
    ended = summary.sessions
    return people(max(ended.users, summary.run.users if not ended.users else 0))


def missed(summary: Summary) -> list[str]:
    """The numbers of bad outcomes, and the hosts that were lost."""
    everything, ended = summary.everything, summary.sessions
    lost_hosts = [f"{plain(name)} was lost" for name in facts_in(summary).lost_hosts]
    return lost_hosts + _counts(
        (ended.refused, "was refused at log-in", "were refused at log-in"),
        (ended.died, "session died", "sessions died"),
        (everything.outcomes.timeouts, "line timed out", "lines timed out"),
        (everything.outcomes.failed, "line failed", "lines failed"),
        (_number_lost(summary, "interaction"), "line had no answer at the end", "lines had no answer at the end"),
    )


def doubtful(summary: Summary) -> list[str]:
    """The numbers of answers that came, but may not be what was waited for."""
    outcomes = summary.everything.outcomes
    unconfirmed = outcomes.unconfirmed - outcomes.unseen
    return _counts(
        (
            unconfirmed,
            "answer is unconfirmed: its end is not certain",
            "answers are unconfirmed: their ends are not certain",
        ),
        (
            outcomes.unseen,
            "key or burst changed nothing on the screen",
            "keys or bursts changed nothing on the screen",
        ),
    )


def _counts(*counts: tuple[int, str, str]) -> list[str]:
    """Each number that is not 0 with its words, as `1 line failed` or `2 lines failed`."""
    return [f"{number(count)} {singular if count == 1 else plural}" for count, singular, plural in counts if count]


def served(summary: Summary) -> str:
    """How the users were served. A run that is not valid, or ended early, says that first."""
    of_run = missed(summary)
    failures = f" {', '.join(of_run)};" if of_run else ""
    notes = "".join(f" {phrase}." for phrase in doubtful(summary))
    remedy = " `loadgo report --failed` shows the bad lines with their last screens." if _has_screens(summary) else ""
    how = f"{who(summary)}; {_answered(summary)}:{failures} {_slowest(summary)}{notes}{remedy}"
    return " ".join(filter(None, (_not_valid(summary), how)))


def _not_valid(summary: Summary) -> str:
    """The sentence that comes first for a run that ended early, or whose figures are not valid. Empty for others."""
    facts = facts_in(summary)
    reasons = ["the run ended early"] if _ended_early(facts) else []
    if not summary.driver.valid:
        reasons.append("the response times are not valid")
    elif any(not lost.tolerated for lost in facts.lost_hosts.values()):
        reasons.append("the figures are not valid")
    return f"{capitalized(', and '.join(reasons))}." if reasons else ""


def _ended_early(facts: RunFacts) -> bool:
    return facts.outcome not in ("", "done", "running")


def _answered(summary: Summary) -> str:
    """The clause that every line was answered, as far as the records tell, or that not all were."""
    if missed(summary) or summary.everything.outcomes.errors:
        return "not everyone was well served"
    facts = facts_in(summary)
    kept = " that was kept" if facts.lost_records else ""
    return f"every line{kept} was answered{' until then' if _ended_early(facts) else ''}"


def _has_screens(summary: Summary) -> bool:
    """Whether lines went wrong on a host, where their last screens are kept."""
    return bool(summary.everything.outcomes.errors) and not simulated(summary)


def _slowest(summary: Summary) -> str:
    """The slowest command and all commands, by one quantile where the slowest has it: else all commands first."""
    everything = summary.everything
    name = "p90" if _has(everything, "p90") else "p50"
    overall = f"{_figure_of(everything, name)} over all commands"
    if not _has(everything, name):
        mean_ns = everything.response.mean_ns
        return "no response time is known." if mean_ns is None else f"the only response took {duration(mean_ns)}."
    if everything.response.quantile(name).state == "never":
        overall += ": too many lines had no answer"
    # The slowest command may be too rare for a p90: the slowest is then known by a quantile that more of them have.
    by = name if all(_has(row, name) for row in summary.commands) else "p50"
    rows = [row for row in summary.commands if _has(row, by)]
    if len(rows) < 2:
        return f"{overall}."
    slowest = max(rows, key=lambda row: row.response.quantile(by).value_ns or float("inf"))
    which = f"of the {len(rows)} commands with enough answers" if len(rows) < len(summary.commands) else "command"
    of_slowest = name if _has(slowest, name) else by
    figure, code = _figure_of(slowest, of_slowest), as_code(slowest.name)
    if slowest.response.quantile(of_slowest).state == "never":
        return f"{figure} for {code} (too many of its lines had no answer), and {overall}."
    if of_slowest != name:
        return f"{overall}; the slowest {which} is {code}: {figure}."
    return f"{figure} for {code}, the slowest {which}, and {overall}."


def _figure_of(row: CommandSummary, name: str) -> str:
    """`p90 174 ms`, or `no p90` where too many lines had no answer."""
    measured = row.response.quantile(name)
    return f"no {name}" if measured.state == "never" else f"{name} {quantile(measured)}"


def _has(row: CommandSummary, name: str) -> bool:
    return row.response.quantile(name).state != "too few samples"


def _number_lost(summary: Summary, what: str) -> int:
    """Number of lost things of a kind. A lost interaction is a line that waited when the run was stopped."""
    return sum(loss.count for loss in summary.losses if loss.what == what)
