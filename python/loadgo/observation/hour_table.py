"""The table of sessions by hour of the day; where workdays and weekends differ, with the rates of both."""

from __future__ import annotations

import time

from loadgo.documents.table import Column, Table
from loadgo.notation.figures import NOT_MEASURED, digits
from loadgo.observation.days_of_week import DAY_WORDS
from loadgo.observation.results import DayKind, Observation

_ABSENT = {NOT_MEASURED: "the records have nothing of this hour on such days"}


def hour_table(observation: Observation) -> Table:
    """The hours of the day of which the records have a part."""
    hours, found = observation.hours, observation.days_of_week
    kinds = found.kinds if found is not None and found.is_different else ()
    columns = (
        Column("hour", tuple(f"{row.hour:02d}:00" for row in hours)),
        Column("sessions begun", tuple(digits(row.begun_per_hour) for row in hours)),
        *(Column(f"on {_name(kind)}", tuple(_begun(kind, row.hour) for row in hours)) for kind in kinds),
        Column("open at once", tuple(digits(row.open_at_once) for row in hours), spare=1),
        Column("hours seen", tuple(digits(row.observed_hours) for row in hours), spare=2),
    )
    which = "all days" if observation.days == "all" else DAY_WORDS[observation.days]
    zone = " and ".join(dict.fromkeys(time.tzname))
    foot = f"Means of {which}, in this host's time zone ({zone})."
    return Table("Sessions by hour", columns, foot=foot, absent=_ABSENT)


def _name(kind: DayKind) -> str:
    return "workdays" if kind.kind == "workdays" else "weekends"


def _begun(kind: DayKind, hour: int) -> str:
    """The sessions that begin in an hour of the day; a dash where none of these days has a part of it."""
    return next((digits(row.begun_per_hour) for row in kind.hours if row.hour == hour), NOT_MEASURED)
