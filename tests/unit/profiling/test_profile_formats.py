"""The formats of a profile: tables, folded stacks, speedscope, pprof."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from loadgo.documents.as_text import text_document
from loadgo.profiling.document import profile_document
from loadgo.profiling.folded import folded
from loadgo.profiling.pprof import pprof
from loadgo.profiling.profile import Frame, Profile, Segment, Stack, frame_of
from loadgo.profiling.speedscope import speedscope
from support.places import TESTS
from support.printed_rows import html_rows, markdown_rows

MAIN, WORK = Frame("/usr/bin/prime", "main"), Frame("/usr/bin/prime", "divide<int>(long)")
COPY, CALL = Frame("[kernel]", "copy_page"), Frame("[kernel]", "do_syscall_64")
PROFILE = Profile(
    of="prime 1000",
    seconds=2.0,
    hz=1000,
    stacks=(
        Stack(None, None, "prime", (MAIN, WORK), 600),
        Stack(3, "compile", "cc1", (MAIN, CALL, COPY), 300),
        Stack(3, None, "cc1", (Frame("/lib/stripped.so", "0x1234"),), 100),
    ),
    segments=(
        Segment("/usr/bin/prime", 600, 40, 2),
        Segment("[kernel]", 300, 0, 0),
        Segment("/lib/stripped.so", 100, 5, 0),
        Segment("[heap]", 0, 1000, 0),
    ),
    build_ids={"/usr/bin/prime": "ab" * 20},
)


def test_a_frame_is_read_as_it_is_written() -> None:
    for frame in (MAIN, COPY, Frame("[anon]", ""), Frame("/lib/a.so", "0x12")):
        assert frame_of(frame.text) == frame
    assert frame_of("parse") == Frame("[unknown]", "parse")


def test_functions_of_a_file_without_symbols_are_one_in_every_format() -> None:
    stripped = [Stack(None, None, "gzip", (Frame("/lib/libz.so.1", f"0x{place}"),), 10) for place in range(9)]
    clock_profile = Profile("gzip", 1.0, 1000, tuple(stripped), (Segment("/lib/libz.so.1", 90, None, None),))
    table = text_document(profile_document(clock_profile), width=80)
    assert [line.split() for line in table.splitlines() if "no symbols (" in line] == [
        ["no", "symbols", "(libz.so.1)", "libz.so.1", "90", "100.0", "%", "90"]
    ]
    assert "no symbols all functions of that file in one row: it was stripped of" in " ".join(table.split())
    assert folded(clock_profile) == "gzip;no symbols (libz.so.1) 90\n"
    frames = json.loads(speedscope(clock_profile))["shared"]["frames"]
    assert [frame["name"] for frame in frames] == ["gzip", "no symbols (libz.so.1)"]
    written = fields(gzip.decompress(pprof(clock_profile)))
    assert sum(1 for number, _ in written if number == 5) == 1
    assert (6, b"no symbols (libz.so.1)") in written
    assert not any("0x" in str(value) for number, value in written if number == 6)


def test_functions_have_one_order_in_every_format_and_callers_stand_in_frames_alone() -> None:
    frames = [Frame("/usr/bin/prime", name) for name in ("main", "zeta", "alpha")]
    stacks = tuple(Stack(None, None, "prime", (frames[0], own), 50) for own in frames[1:])
    clock_profile = Profile("prime", 1.0, 1000, stacks, (Segment("/usr/bin/prime", 100, None, None),))
    lines = text_document(profile_document(clock_profile), width=80).splitlines()
    rows = [line.split()[0] for line in lines if " prime " in line and "%" in line]
    frame = clock_profile.frame()
    assert rows == ["alpha", "zeta"]
    assert frame["function"].to_list() == ["alpha", "zeta", "main"]
    assert frame["samples"].to_list() == [50, 50, 0]
    assert frame["samples_in_calls"].to_list() == [50, 50, 100]


def test_what_is_of_no_file_and_has_no_name_is_its_segment() -> None:
    assert [Frame("[anon]", "0x7f00").place, Frame("[kernel]", "").place, MAIN.place] == ["[anon]", "[kernel]", "main"]


def test_unknown_segments_of_page_faults_are_explained_where_there_are_some() -> None:
    assert "[unknown]" not in text_document(profile_document(PROFILE), width=80)
    clock_profile = Profile("x", 1.0, 1000, (), (Segment("[unknown]", None, 3, 0),))
    lines = text_document(profile_document(clock_profile), width=80).splitlines()
    assert lines[-1].startswith("[unknown]  the kernel reported no mapping there")
    assert max(map(len, lines)) <= 80


def test_folded_stacks_are_sorted_lines_with_counts() -> None:
    assert folded(PROFILE).splitlines() == [
        "cc1;main;do_syscall_64_[k];copy_page_[k] 300",
        "cc1;no symbols (stripped.so) 100",
        "prime;main;divide<int>(long) 600",
    ]


def test_speedscope_takes_the_file_by_its_schema() -> None:
    schema = json.loads((TESTS / "support" / "speedscope.schema.json").read_text())
    document = json.loads(speedscope(PROFILE))
    jsonschema.validate(document, schema)
    samples, minor, major = document["profiles"]
    assert samples["endValue"] == pytest.approx(1.0)
    names = [frame["name"] for frame in document["shared"]["frames"]]
    assert [names[place] for place in samples["samples"][1]] == ["cc1", "main", "do_syscall_64", "copy_page"]
    assert dict(zip((names[stack[0]] for stack in minor["samples"]), minor["weights"], strict=True))["[heap]"] == 1000
    assert major["endValue"] == 2


def test_pprof_reads_the_file_back(tmp_path: Path) -> None:
    """With Go's own tool where there is one, else with what it is made of: the wire format, read back."""
    path = tmp_path / "profile.pb.gz"
    path.write_bytes(pprof(PROFILE))
    go = shutil.which("go")
    if go is None:
        assert fields(gzip.decompress(path.read_bytes()))
        return
    raw = subprocess.run([go, "tool", "pprof", "-raw", path], capture_output=True, text=True, check=True).stdout
    assert "samples/count[dflt] cpu/nanoseconds minor_faults/count major_faults/count" in raw
    assert "600  600000000          0          0: 1 2" in raw
    assert f"/usr/bin/prime {'ab' * 20}" in raw
    assert "command:[compile]" in raw
    assert "user:[3]" in raw
    top = subprocess.run([go, "tool", "pprof", "-top", path], capture_output=True, text=True, check=True).stdout
    first = next(line for line in top.splitlines() if "divide" in line)
    assert first.split()[:2] == ["600", "60.00%"]


def test_every_field_of_pprof_has_its_number() -> None:
    found = fields(gzip.decompress(pprof(PROFILE)))
    numbers = {number for number, _ in found}
    assert numbers == {1, 2, 3, 4, 5, 6, 10, 11, 12, 14}
    texts = [value.decode() for number, value in found if number == 6 and isinstance(value, bytes)]
    assert texts[0] == ""
    assert {"samples", "main", "/usr/bin/prime", "ab" * 20, "compile"} <= set(texts)
    assert sum(1 for number, _ in found if number == 2) == 3 + 3  # stacks, and segments that faulted


def fields(message: bytes) -> list[tuple[int, int | bytes]]:
    """The fields of a message: numbers, and what has a length."""
    field_list: list[tuple[int, int | bytes]] = []
    place = 0
    while place < len(message):
        key, place = varint(message, place)
        value, place = varint(message, place)
        if key & 7 == 2:
            field_list.append((key >> 3, message[place : place + value]))
            assert len(message) >= place + value
            place += value
        else:
            assert key & 7 == 0
            field_list.append((key >> 3, value))
    return field_list


def varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


@pytest.mark.parametrize("width", [80, 120])
def test_the_tables_fit_and_add_up(width: int) -> None:
    text = text_document(profile_document(PROFILE), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "/usr/bin/prime" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["all", "1,000", "100.0", "%"] in lines
    assert ["all", "1,045", "2"] in lines
    assert ["/usr/bin/prime", "600", "60.0", "%", "3.1", "%"] in lines
    assert ["divide<int>(long)", "prime", "600", "60.0", "%", "600"] in lines


def test_a_long_path_keeps_its_end() -> None:
    path = "/very" * 30 + "/libend.so"
    stack = Stack(None, None, "x", (Frame(path, "long<" * 30),), 10)
    clock_profile = Profile("x", 1.0, 1000, (stack,), (Segment(path, 10, 5, 6),))
    text = text_document(profile_document(clock_profile), width=80)
    assert max(map(len, text.splitlines())) <= 80
    ends = [line.split() for line in text.splitlines() if "libend.so" in line]
    assert any(line[-5:] == ["10", "100.0", "%", "0.0", "%"] for line in ends)
    assert any(line[-4:] == ["10", "100.0", "%", "10"] for line in ends)
    assert any(line[-2:] == ["5", "6"] for line in ends)


def test_json_has_all_stacks_and_the_other_formats_the_tables() -> None:
    members = json.loads(PROFILE.report("json"))
    frames = [[(frame["segment"], frame["function"]) for frame in stack["frames"]] for stack in members["stacks"]]
    assert frames == [[(frame.segment, frame.function) for frame in stack.frames] for stack in PROFILE.stacks]
    assert [(stack["user"], stack["command"], stack["process"], stack["samples"]) for stack in members["stacks"]] == [
        (stack.user, stack.command, stack.process, stack.samples) for stack in PROFILE.stacks
    ]
    as_html = html_rows(PROFILE.report("html"))
    assert as_html == TABLES
    assert markdown_rows(PROFILE.report("md")) == TABLES
    lines = [" ".join(line.split()) for line in PROFILE.report(width=120).splitlines()]
    assert [row for row in TABLES if " ".join(row).strip() not in lines] == []


TABLES = [
    ["mapping", "samples", "share", "±"],
    ["/usr/bin/prime", "600", "60.0 %", "3.1 %"],
    ["[kernel]", "300", "30.0 %", "2.9 %"],
    ["/lib/stripped.so", "100", "10.0 %", "1.9 %"],
    ["all", "1,000", "100.0 %", ""],
    ["function", "mapping", "samples", "share", "in calls"],
    ["divide<int>(long)", "prime", "600", "60.0 %", "600"],
    ["copy_page", "[kernel]", "300", "30.0 %", "300"],
    ["no symbols (stripped.so)", "stripped.so", "100", "10.0 %", "100"],
    ["page faults in", "minor", "major"],
    ["/usr/bin/prime", "40", "2"],
    ["[heap]", "1,000", "0"],
    ["/lib/stripped.so", "5", "0"],
    ["all", "1,045", "2"],
]
"""The tables of `PROFILE`: each function's samples, mapping by mapping, and page faults."""


def test_loadgo_s_own_part_of_a_profile_is_said() -> None:
    """A profile of `loadgo run` has its start, its driver and its report beside the users."""
    own = Stack(None, None, "loadgo", (MAIN,), 300)
    users = (Stack(None, None, "sh", (WORK,), 60), Stack(None, None, "loadgo-calculat", (WORK,), 40))
    clock_profile = Profile("loadgo run light", 1.0, 1000, (own, *users), (Segment("/usr/bin/prime", 400, None, None),))
    said = " ".join(text_document(profile_document(clock_profile), width=80).split())
    assert "75.0 % of the samples are of loadgo itself, not of its users. For the users' part, run with" in said
    of_users = replace(clock_profile, stacks=(replace(own, samples=3), *users, Stack(1, "edit", "ed", (WORK,), 297)))
    assert "of loadgo itself" not in text_document(profile_document(of_users), width=80)
