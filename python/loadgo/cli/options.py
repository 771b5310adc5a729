"""Options that several commands share: formats, tariffs, systems, and the file of a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from loadgo.cli.completed_values import machine_completions
from loadgo.documents.formats import ReportFormat
from loadgo.records.run_file import SHARING_VARIABLE

ReportFormatOption = Annotated[
    ReportFormat,
    typer.Option(
        "--format", help="The report's format. csv: a row for each command; svg, png: response times by command."
    ),
]
TariffOption = Annotated[
    str,
    typer.Option(
        help="Prices of the resources: a tariff's NAME or NAME:SHIFT, a FILE.toml, or machine (or machine:SHIFT) for a "
        "simulated machine's own."
    ),
]
VocabularyOption = Annotated[
    Literal["today", "1969", "1973"],
    typer.Option(help="Words for the processors' time: today's, or those of March 1969 or May 1973."),
]
ByOption = Annotated[
    Literal["command", "user"] | None,
    typer.Option(
        help="Add tables of faults and system calls by command, or by user; on a host, the run needs --meters exact."
    ),
]
FullOption = Annotated[
    bool,
    typer.Option(
        "--full", help="Print all tables and notes. By default text is short; the other formats have everything."
    ),
]
TopOption = Annotated[int | None, typer.Option(min=1, metavar="N", help="The largest number of rows of a long table.")]


def _share(wanted: bool) -> bool:
    """Lets other users read the folders of this process's runs, and of its workers' runs, if that is `wanted`."""
    if wanted:
        os.environ[SHARING_VARIABLE] = "1"
    return wanted


ShareOption = Annotated[
    bool,
    typer.Option("--share", callback=_share, help="Let other users of this host read the folder, as the umask says."),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no report: the run's folder alone, and what is wrong.")
]
ReportFileOption = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="The file to write; - is the standard output. HTML and pictures go into the run's folder by default.",
    ),
]
RunSystemOption = Annotated[
    str,
    typer.Option(
        metavar="SYSTEM",
        autocompletion=machine_completions,
        help="The system that users log in to: here, which is this host; ssh://USER@HOST:PORT for another host, of "
        "which HOST is enough; a simulated machine's name (see loadgo machines), or the path of a machine file; "
        "or a list of hosts, such as hosts.toml, over which the users are spread.",
    ),
]
WithoutLostOption = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="With several hosts: the run counts although up to N of them are lost on the way; by default 0.",
    ),
]
DrivenFromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="HOSTS",
        help="With --on ssh://HOST or a list of hosts: the hosts that drive the users, each a part of them: "
        "gen1,gen2,here, or the path of a list of hosts with weights.",
    ),
]
HostOption = Annotated[
    str,
    typer.Option(
        metavar="HOST",
        help="The host: here, or ssh://USER@HOST:PORT, of which HOST is enough; ssh copies loadgo's agent there.",
    ),
]
HostsOption = Annotated[
    str,
    typer.Option(
        metavar="HOST",
        help="The host: here; ssh://USER@HOST:PORT, of which HOST is enough, and ssh copies loadgo's agent there; or "
        "a list of hosts, such as hosts.toml.",
    ),
]
LoginOption = Annotated[
    str | None,
    typer.Option(metavar="COMMAND", help="The command that logs users in, instead of the script's: 'ssh host'."),
]
SudoOption = Annotated[bool, typer.Option("--sudo", help="Run loadgo's agent on the other host by sudo.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a value of the machine's file: processors.speed=2, memory.frames=512. May be given again.",
    ),
]
ThinkOption = Annotated[str | None, typer.Option(help="Think time instead of the script's.")]
TypingOption = Annotated[str | None, typer.Option(help="Typing rate instead of the script's.")]
LimitOption = Annotated[str | None, typer.Option(help="Limits of all users together: see loadgo run.")]
LimitEachOption = Annotated[
    str | None,
    typer.Option(
        help="Limits of each user: cpus=2,memory=1G,pids=200; also swap=0, nice=5 and io=20M. A simulated machine has "
        "cpus and nice."
    ),
]
MetersOption = Annotated[
    Literal["none", "cheap", "cheap,locks", "cheap,profile", "sampled", "exact"] | None,
    typer.Option(help="The kernel's meters: see loadgo run."),
]
DrawsOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help="For a machine of loadgo fit: run it N times more, with parameters drawn from the fit's covariance, so "
        "that the prediction has an interval; by default 20, 0 for none.",
    ),
]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        metavar="N|dask|ADDRESS",
        help="Who simulates: a number of processes here; dask for a Dask cluster here; or a Dask scheduler's address, "
        "such as tls://head:8786. By default threads.",
    ),
]
FailIfOption = Annotated[
    list[str] | None,
    typer.Option(help="Exit with 1 if this holds: 'p90(edit) > 1s', 'errors > 0'. May be given again."),
]
UntilOption = Annotated[
    str | None,
    typer.Option(help="Go on until 'interactions=1e6', 'precision(p90)=2%', or both with a comma."),
]
