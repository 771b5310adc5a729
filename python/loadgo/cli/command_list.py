"""The list of all commands: the file of each, and the line that the help of `loadgo` has for it.

A start builds only the command that is typed, and imports its file alone. So the lines stand here a second time; a test
compares them with the functions' docstrings.
"""

from __future__ import annotations

from typing import NamedTuple


class ListedCommand(NamedTuple):
    """A command before its file is imported."""

    file: str
    """The module below `loadgo.cli` that has the command's function, which has the command's name."""
    about: str
    """The first paragraph of the function's docstring."""
    takes_command: bool = False
    """Whether options after the first word of its COMMAND are that command's own."""


COMMANDS_BY_GROUP: dict[str, dict[str, ListedCommand]] = {
    "Load a system, and read what it did": {
        "run": ListedCommand("run", "Loads the system with users who type SCRIPT, and prints the report."),
        "report": ListedCommand(
            "report",
            "Prints the report of a recorded run. With --fail-if, exits with 1 if a condition holds or cannot be "
            "decided.",
        ),
        "watch": ListedCommand(
            "watch",
            "Shows a host, a run while it goes, or a finished run again: in a browser, or with --terminal here.",
        ),
        "runs": ListedCommand("commands", "Lists the recorded runs, the newest last."),
        "verify": ListedCommand(
            "verify",
            "Checks a run as a stranger would: files, records, rules, signature. Exits with 1 if it does not hold.",
        ),
        "query": ListedCommand("commands", "Answers a question in SQL from the tables of a run."),
    },
    "Decide": {
        "capacity": ListedCommand(
            "capacity", "Finds how many users who type SCRIPT the system holds, so that every target is met."
        ),
        "ab": ListedCommand(
            "ab", "Runs A and B in turn, in pairs of short runs, until it is known how B differs from A."
        ),
        "compare": ListedCommand(
            "compare", "Compares B with A, command by command: the differences, which is better, and the causes."
        ),
        "speedup": ListedCommand(
            "compare",
            "Divides a speed-up among its changes, from runs with each combination of them, and among the "
            "meters' parts.",
        ),
        "cost": ListedCommand(
            "cost",
            "Prices a run: an interaction, each command or user, a user's hour; of several runs, the curve over "
            "the load.",
        ),
        "history": ListedCommand(
            "history",
            "Shows a figure over many runs, with the runs between which it changed. Exits with 1 if it changed "
            "for worse.",
        ),
        "lab": ListedCommand(
            "lab",
            "Serves a page over a folder of runs: a list, reports, comparisons, experiments, histories, tags and "
            "notes.",
        ),
    },
    "Look at a host without a load": {
        "doctor": ListedCommand(
            "commands", "Says what cannot be measured or controlled on a host, why, and the remedy; then what can be."
        ),
        "meter": ListedCommand(
            "meter",
            "Meters a host, or COMMAND, without a load, and prints the report. Exits as COMMAND does.",
            takes_command=True,
        ),
        "ready": ListedCommand(
            "commands",
            "Runs COMMAND and prints what it used: time, faults, waits, memory, cost. Exits as COMMAND does.",
            takes_command=True,
        ),
        "profile": ListedCommand(
            "profile",
            "Prints where processors spend their time and what faults, by mapping and function. Exits as COMMAND does.",
            takes_command=True,
        ),
        "transfer": ListedCommand(
            "transfer",
            "Moves data to another host or from it, or runs COMMAND, and prints the cost: time, faults, money.",
        ),
    },
    "Make scripts": {
        "scripts": ListedCommand(
            "commands", "Lists the scripts that come with loadgo, or prints one as a start for your own."
        ),
        "record": ListedCommand(
            "commands", "Records a session at a real shell as a script, with its think times and its typing rate."
        ),
        "observe": ListedCommand(
            "observe",
            "Makes a script from what a host's own users did: their commands, think times and classes.",
        ),
        "likeness": ListedCommand(
            "likeness",
            "Says how like what was observed a run of an observed script is. Exits with 1 if it is not, or "
            "cannot be told.",
        ),
    },
    "Predict and simulate": {
        "fit": ListedCommand(
            "fit", "Fits a machine to runs: a machine file that predicts other numbers of users, processors, devices."
        ),
        "simulate": ListedCommand(
            "machines",
            "Simulates MACHINE under its own load, without a script: throughput, response times, queues, with "
            "intervals.",
        ),
        "sweep": ListedCommand(
            "sweep",
            "Runs all simulations of GRID on processes of this host or on a cluster: one Parquet data set, one answer.",
        ),
        "merge": ListedCommand(
            "sweep", "Makes one sweep of all its PARTs, the same bytes as if it had been computed as a whole."
        ),
        "machines": ListedCommand(
            "machines", "Lists the machines that come with loadgo, or prints the file of one as a start for your own."
        ),
        "reproduce": ListedCommand(
            "machines",
            "Runs the published measurements again: every printed figure beside ours.",
        ),
    },
    "Serve shells and editors": {
        "completions": ListedCommand(
            "completions",
            "Prints the lines that let a shell complete commands, options, and the names of scripts, machines "
            "and runs.",
        ),
        "man": ListedCommand("man", "Writes the manual pages into a folder: loadgo.1, and a page for each command."),
        "schema": ListedCommand(
            "schema",
            "Prints the JSON Schema of a file, or of what a command prints with --format json, or lists all of them.",
        ),
    },
}
"""The commands by the title of their group, in the order of the help."""

LISTED_COMMANDS: dict[str, ListedCommand] = {
    name: listed for commands in COMMANDS_BY_GROUP.values() for name, listed in commands.items()
}
"""All commands by name, in the order of the help."""
