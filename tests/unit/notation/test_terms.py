"""Every stored name that the code can produce has a term, and its sentence is that of the glossary."""

import re
from pathlib import Path

import pytest
from loadgo.documents.palette import BUSY_COLORS, IDLE_COLORS, STATE_COLORS
from loadgo.notation.heading_terms import HEADING_MEANINGS
from loadgo.notation.terms import (
    CATEGORY_TERMS,
    FAULT_TERMS,
    IDLE_PREFIX,
    OPERATION_TERMS,
    OWNER_TERMS,
    category_name,
    factor_name,
    fault_name,
    idle_cause,
    operation_name,
)
from loadgo.watching.page_terms import terms_module
from loadgo.watching.window import USER_STATES
from support.places import PROJECT

TERMS = [*CATEGORY_TERMS.values(), *FAULT_TERMS.values(), *OPERATION_TERMS.values(), *OWNER_TERMS.values()]
OF_1969_AND_1973 = {"primitive", "getwork", "bound fault", "segment fault", "wall crossing", "line in", "line out"}


def source(path: str) -> str:
    """A file of the project."""
    return (PROJECT / path).read_text(encoding="utf-8")


def quoted(text: str, begin: str, end: str) -> list[str]:
    """The texts in quotes between two marks."""
    return re.findall(r'"([^"]+)"', text.split(begin, 1)[1].split(end, 1)[0])


def produced_categories() -> set[str]:
    """The categories in the code: a simulated machine's, the meters', and those of the kernel's own account."""
    machine = quoted(source("crates/machine/src/meters.rs"), "Category::User =>", "}")
    meters = quoted(source("crates/meters/src/programs/layout.rs"), "CATEGORY_NAMES: [&str; 17] = [", "]")
    ticks = quoted(source("crates/host/src/usage/sampler.rs"), "TIME_CATEGORIES: [&str; 8] = [", "]")
    assert (len(machine), len(meters), len(ticks)) == (18, 17, 8)
    return {*machine, *meters, *ticks, "meters"}


def produced_faults() -> set[str]:
    """The kinds of faults in the code."""
    machine = quoted(source("crates/machine/src/meters.rs"), "FaultKind::Major =>", "}")
    pages = quoted(source("crates/meters/src/tables/faults.rs"), "FAULT_KINDS: [&str; 8] =", ";")
    interrupts = ["interrupt", "interrupt unclocked", "soft interrupt", "soft interrupt unclocked"]
    assert (len(machine), len(pages)) == (4, 8)
    return {*machine, *pages, *interrupts}


def glossary() -> dict[str, str]:
    """The meaning of each term in the glossary, without marks of Markdown and sources, and without the old words."""
    todays = source("docs/glossary.md").split("## Words of the documents")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", todays, re.MULTILINE)
    without_marks = {term: re.sub(r"`|\*| \[[A-Z]\]", "", meaning) for term, meaning in rows}
    return {name: meaning for term, meaning in without_marks.items() for name in term.split(", ")}


def test_every_category_that_the_code_can_produce_has_a_term_a_sentence_and_a_colour() -> None:
    assert produced_categories() == set(CATEGORY_TERMS)
    assert produced_categories() == set(BUSY_COLORS | IDLE_COLORS)
    assert all(term.meaning.endswith(".") for term in TERMS)


def test_every_kind_of_fault_and_operation_that_the_code_can_produce_has_a_term() -> None:
    timed = {kind.removesuffix(" unclocked") for kind in produced_faults()}
    assert timed == set(FAULT_TERMS)
    operations = quoted(source("crates/machine/src/meters.rs"), "Primitive::LineIn =>", "}")
    assert len(operations) == 5
    assert set(operations) == set(OPERATION_TERMS)


def test_no_two_categories_have_one_term() -> None:
    names = [term.name for term in CATEGORY_TERMS.values()]
    assert len(set(names)) == len(names)
    assert not OF_1969_AND_1973.intersection(names)


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.name)
def test_a_terms_sentence_is_that_of_the_glossary(term: object) -> None:
    assert glossary()[term.name].startswith(term.sentence)  # type: ignore[attr-defined]


@pytest.mark.parametrize("heading", HEADING_MEANINGS)
def test_a_headings_sentence_is_that_of_the_glossary(heading: str) -> None:
    meaning = glossary().get(heading) or glossary()[f"{IDLE_PREFIX}{heading}"]
    # The glossary has one row for all quantiles; a column has one of them.
    own = meaning.replace("50, 90, 95 or 99 of 100", f"{heading.removeprefix('p')} of 100")
    assert own.startswith(HEADING_MEANINGS[heading])


@pytest.mark.parametrize("stored", CATEGORY_TERMS)
def test_the_glossary_has_the_stored_name_of_each_category(stored: str) -> None:
    row = next(
        line for line in source("docs/glossary.md").splitlines() if line.startswith(f"| {category_name(stored)} |")
    )
    assert f"`{stored}`" in row or (category_name(stored) == stored and "| = |" in row)


def test_stored_names_become_todays() -> None:
    assert [idle_cause(name) for name in ("idle zero", "idle page wait", "idle governed", "idle")] == [
        "nothing to run",
        "waiting for a page",
        "throttled",
        "idle",
    ]
    assert fault_name("minor unclocked") == "minor, untimed"
    assert fault_name("timer unclocked") == "timer, untimed"
    assert (operation_name("line out"), operation_name("read")) == ("terminal output", "read")
    assert factor_name("getwork: how many") == "context switch: how many"
    assert factor_name("ready wait") == "CPU wait"


def test_the_watch_page_has_the_same_terms_and_colours() -> None:
    module = terms_module().decode()
    assert list(STATE_COLORS) == list(USER_STATES)
    for stored, color in (BUSY_COLORS | IDLE_COLORS).items():
        assert f'"{stored}": {{"name": "{category_name(stored)}"' in module
        assert f'"colour": "{color}"' in module


def test_no_color_of_a_category_stands_in_the_pages_own_code() -> None:
    folder = Path(PROJECT, "python/loadgo/watching/page")
    own = {color.lower() for file in folder.glob("*.js") for color in re.findall(r"#[0-9a-fA-F]{6}", file.read_text())}
    stack = set(re.findall(r"#[0-9a-fA-F]{6}", (folder / "pictures.js").read_text()))
    assert own <= stack | {"#999999"}, "only the colours of memory's holders are the page's own"
