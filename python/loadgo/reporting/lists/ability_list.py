"""The abilities of a host as `loadgo doctor` shows them: what is missing first, with its remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loadgo.documents.as_json import json_document
from loadgo.documents.document import Document, Points, Remarks, Section
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.documents.table import Column, Table
from loadgo.notation.figures import in_words, with_usual_times
from loadgo.notation.terms import meter_name

if TYPE_CHECKING:
    from loadgo.running.doctor import Ability

ABILITY_KEYS = "name state how why_not remedy host"
"""The keys of an `Ability` in JSON and the columns of its frame, in order."""
_METER_PREFIX = "meter: "
_STATE_WORDS = {"absent": "not here", "estimated": "in part"}
"""The words for what is missing, the worst first."""
_ANSWER_WORDS = {"absent": "missing", "estimated": "there in part"}
"""The same words in a sentence."""


def ability_presentation(abilities: Sequence[Ability], *, full: bool = False) -> Presentation:
    """The parts of a list of abilities. With `full`, the document says of each how this host has it."""
    records = tuple({key: getattr(ability, key) for key in ABILITY_KEYS.split()} for ability in abilities)
    return Presentation(
        lambda: ability_document(abilities, full=full),
        lambda: json_document({"abilities": records}, {}),
        {"abilities": lambda: frame_of(records, ABILITY_KEYS)},
    )


def ability_document(abilities: Sequence[Ability], *, full: bool = False) -> Document:
    """The document: what is missing with its remedy, and the rest by name, or with `full` with its means."""
    missing = [ability for state in _STATE_WORDS for ability in abilities if _missing_state(ability) == state]
    missing_names = {ability.name for ability in missing}
    here = [ability for ability in abilities if not _missing_state(ability) and not _is_told(ability, missing_names)]
    here = list({(ability.name, ability.how): ability for ability in here}.values())
    sections: list[Section] = []
    if missing:
        title = "Missing" if _are_absent(missing) else "Missing, or there in part"
        sections.append(Points(title, tuple(_missing_items(missing))))
    if here and full:
        columns = (
            Column("available", tuple(map(_name, here)), kind="words"),
            Column("how", tuple(with_usual_times(ability.how) for ability in here), kind="words"),
        )
        sections.append(Table("Available", columns))
    elif here:
        hint = "`loadgo doctor --full` says how each of them is measured."
        everywhere = " on all hosts that were reached" if any(ability.host for ability in here) else ""
        sections.append(Remarks((f"Available{everywhere}: {_short_list(here)}.", hint)))
    left_out = getattr(abilities, "left_out", ())
    if left_out:
        sections.append(Remarks((_left_out_in_words(left_out),)))
    return Document("doctor", ability_answer(abilities), tuple(sections))


def ability_answer(abilities: Sequence[Ability]) -> str:
    """The answer in a sentence: how much of what loadgo can do it can do on this host, or on others."""
    place = getattr(abilities, "place", "here")
    if any(ability.host for ability in abilities):
        return _answer_of_hosts(abilities, place)
    is_far = bool(getattr(abilities, "left_out", ()))
    whose = (
        f"the {len(abilities)} abilities that loadgo uses there" if is_far else f"loadgo's {len(abilities)} abilities"
    )
    counts = Counter(map(_missing_state, abilities))
    if counts[""] == len(abilities):
        return f"All of {whose} are available {place}."
    missing = [
        f"{counts[state]} {'is' if counts[state] == 1 else 'are'} {words}"
        for state, words in _ANSWER_WORDS.items()
        if counts[state]
    ]
    return f"{counts['']} of {whose} are available {place}; {', '.join(missing)}."


def _answer_of_hosts(abilities: Sequence[Ability], place: str) -> str:
    """The answer for several hosts: whether each has everything, and which cannot be reached."""
    hosts = tuple(dict.fromkeys(ability.host for ability in abilities))
    unreached = tuple(getattr(abilities, "unreached", ()))
    lacking = tuple(
        host
        for host in hosts
        if host not in unreached and any(_missing_state(ability) for ability in abilities if ability.host == host)
    )
    parts = [f"{in_words(unreached)} cannot be used"] if unreached else []
    parts += [f"{in_words(lacking)} {'lack' if len(lacking) > 1 else 'lacks'} something"] if lacking else []
    whole = len(hosts) - len(unreached) - len(lacking)
    which, everything = place.removeprefix("on the "), "everything that loadgo uses there"
    if not parts:
        return f"All {which} have {everything}."
    return f"{whole or 'None'} of the {which} {'has' if whole < 2 else 'have'} {everything}: {', '.join(parts)}."


def _are_absent(abilities: Sequence[Ability]) -> bool:
    return all(_missing_state(ability) == "absent" for ability in abilities)


def _is_told(ability: Ability, missing_names: set[str]) -> bool:
    """Whether an ability of one of several hosts is missing on another one."""
    return bool(ability.host) and ability.name in missing_names


def _left_out_in_words(names: Sequence[str]) -> str:
    return (
        f"Not in this list, since loadgo uses them only on the host where it runs: {'; '.join(names)}. "
        "`ssh HOST loadgo doctor` lists them, for a host from which users are to be driven."
    )


def _missing_state(ability: Ability) -> str:
    """The state of an ability that could be better on another host; empty for one that is as good as it gets."""
    is_best = ability.state == "exact" or not (ability.state == "absent" or ability.why_not or ability.remedy)
    return "" if is_best else ability.state


def _name(ability: Ability) -> str:
    """The displayed name of an ability, a meter's in today's words."""
    meter = ability.name.removeprefix(_METER_PREFIX)
    return ability.name if meter == ability.name else f"{_METER_PREFIX}{meter_name(meter)}"


def _short_list(abilities: Sequence[Ability]) -> str:
    """The names of the abilities, with all meters in one entry."""
    names = [_name(ability) for ability in abilities]
    meters = [name.removeprefix(_METER_PREFIX) for name in names if name.startswith(_METER_PREFIX)]
    names = [name for name in names if not name.startswith(_METER_PREFIX)]
    return "; ".join([*names, *([f"the meters of {', '.join(meters)}"] if meters else [])])


def _missing_items(missing: Sequence[Ability]) -> list[tuple[str, ...]]:
    """An entry for each reason: abilities and hosts that lack the same for the same reason share one."""
    hosts: dict[Ability, list[str]] = {}
    for ability in missing:
        hosts.setdefault(replace(ability, host=""), []).append(ability.host)
    entries: dict[tuple[str, ...], list[Ability]] = {}
    for ability, names in hosts.items():
        entries.setdefault(_missing_entry(ability, in_words([name for name in names if name])), []).append(ability)
    return [
        (f"{_name(abilities[0]) if len(abilities) == 1 else _short_list(abilities)}: {where}", *lines)
        for (where, *lines), abilities in entries.items()
    ]


def _missing_entry(ability: Ability, hosts: str) -> tuple[str, ...]:
    """Where an ability is missing in whole or in part, what there is instead, why, and the whole remedy."""
    lines = [f"measured: {with_usual_times(ability.how)}"] if ability.how else []
    lines += [f"why: {ability.why_not}"] if ability.why_not else []
    if ability.remedy or not hosts:
        lines.append(f"remedy: {ability.remedy}" if ability.remedy else "remedy: none is known")
    where = f"not on {hosts}" if hosts and ability.state == "absent" else _STATE_WORDS[ability.state]
    where += f" on {hosts}" if hosts and ability.state != "absent" else ""
    return where, *lines
