"""The groups in which the help of a command shows its options."""

from __future__ import annotations

_LOAD, _SYSTEM, _MEASURING, _SEARCH = "The load", "The system", "Measuring", "The search"
_JUDGING, _MONEY, _OUTPUT, _SERVER, _DATA = "Judging", "Money", "Output", "Serving", "The data"
_SHOWN, _WORKERS = "What is shown", "The workers"

_GROUPS: dict[str, str] = {
    name: group
    for group, names in {
        _LOAD: "users passes duration think typing arrivals warm_up seed until mix streams",
        _SYSTEM: """on login sudo driven_from without_lost set limit on_a on_b login_a login_b set_a set_b limit_a
            limit_b before_a before_b change to factors machine shell limit_each""",
        _MEASURING: "meters reference usage_every fifo processor every hz cold runs measured at_most times load grid",
        _SEARCH: "target vary max_users within shortest longest trials pairs time_limit margin measure draws",
        _JUDGING: "fail_if phases worse judge against against_tariff since like",
        _MONEY: "tariff network tariffs print_tariff",
        _OUTPUT: """format output out share quiet quiet_output watch chart vocabulary by host top failed full csv report
            folded speedscope pprof name force cast methods junit summary here""",
        _SERVER: "listen connections total once job_time serve beyond_loopback otlp port leaves",
        _WORKERS: "workers part",
        _SHOWN: "terminal window speed at model",
        _DATA: """size method message receive from_file into token_file read columns allow_files
            think_from without_users names""",
    }.items()
    for name in names.split()
}
"""The group of each option by the name of its parameter."""

_EXCEPTIONS: dict[tuple[str, str], str] = {
    ("run", "draws"): _MEASURING,
    ("meter", "duration"): _MEASURING,
    ("profile", "duration"): _MEASURING,
    ("profile", "of"): _MEASURING,
    ("report", "target"): _JUDGING,
    ("compare", "within"): _JUDGING,
    ("cost", "measure"): _JUDGING,
    ("speedup", "tariff"): _OUTPUT,
    ("transfer", "to"): _DATA,
    ("watch", "once"): _SHOWN,
    ("watch", "target"): _SHOWN,
    ("query", "run"): _DATA,
    ("record", "from_cast"): _DATA,
    ("observe", "sources"): _DATA,
    ("observe", "users"): _DATA,
}
"""Options that mean something else in one command."""


HELP_GROUP = _OUTPUT
"""The group of `--help`."""


def group_of(command: str, parameter: str) -> str | None:
    """The heading of an option's group; None for the group of all others."""
    return _EXCEPTIONS.get((command, parameter), _GROUPS.get(parameter))
