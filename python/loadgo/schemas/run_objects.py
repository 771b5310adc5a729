"""The JSON objects of runs, fits, metered commands and lists, as typed dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Annotated, Any, NotRequired, TypedDict

from loadgo.documents.json_types import WithMembers
from loadgo.fitting.trial import FittedCheck
from loadgo.measures.vocabulary import DocumentVocabulary
from loadgo.prediction.fitted import Parameter
from loadgo.profiling.summary import ProfileSummary
from loadgo.ready_message.ready import FigureSpread
from loadgo.records.runs import RecordedRun
from loadgo.reporting.failed_lines import FailedLine
from loadgo.running.command_run import CommandRun
from loadgo.running.doctor import Ability
from loadgo.running.machines import Machine
from loadgo.running.scripts import Script


class ChartDataJson(TypedDict):
    """A chart's caption and columns."""

    caption: str
    columns: Mapping[str, Sequence[Any]]


class RunMore(TypedDict):
    """Members of a run's JSON beside its summary."""

    warnings: Sequence[str]
    vocabulary: NotRequired[DocumentVocabulary]
    over_time: Mapping[str, ChartDataJson]


class FailedJson(TypedDict):
    """The lines of a run that failed."""

    failed: Sequence[FailedLine]


class FitJson(TypedDict):
    """A fit."""

    title: str
    path: str | PathLike[str] | None
    script: str
    runs: Sequence[str]
    users: Sequence[int]
    interactions: int
    reference: str
    """Time of a piece of the reference work at the speed at which the values hold; empty where it is not known."""
    parameters: Sequence[Parameter]
    checks: Sequence[FittedCheck]
    assumed: Sequence[str]
    warnings: Sequence[str]
    hint: str
    further_runs: str


class WarningsMore(TypedDict):
    """The warnings that stand over the page of a result, beside its fields."""

    warnings: Sequence[str]


class ProfileMore(WarningsMore):
    """Members of a profile's JSON beside its fields."""

    summary: ProfileSummary


class MeteredRunMore(TypedDict):
    """Members of a metered command's JSON beside its fields."""

    status: int
    cpu_ns: int | None
    cost: float | None


class ReadyMore(WarningsMore):
    """Members of a ready message's JSON beside its fields."""

    figures: Mapping[str, Mapping[str, FigureSpread]]
    runs: Sequence[Annotated[dict[str, object], WithMembers(CommandRun, MeteredRunMore)]]


class RunsJson(TypedDict):
    """The recorded runs."""

    runs: Sequence[RecordedRun]


class MachinesJson(TypedDict):
    """The machines that come with loadgo."""

    machines: Sequence[Machine]


class ScriptsJson(TypedDict):
    """The scripts that come with loadgo."""

    scripts: Sequence[Script]


class AbilitiesJson(TypedDict):
    """The list of what can be measured and controlled on a host."""

    abilities: Sequence[Ability]


class QueryJson(TypedDict):
    """The rows of an answer, by column, and the warnings of the run that they are of."""

    warnings: Sequence[str]
    rows: Sequence[Mapping[str, Any]]


class MethodJson(TypedDict):
    """A method of transfers."""

    method: str
    message_bytes: int
    """Bytes that a call moves, unless another number is given."""
    why_not_here: str | None
    """The reason why this host does not have the method; null if it has."""


class MethodsJson(TypedDict):
    """The methods of transfers."""

    methods: Sequence[MethodJson]
