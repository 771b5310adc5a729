"""Tables of transfers read and taken apart: the seed's own, and some whose parts are known."""

import json
from pathlib import Path

import numpy as np
import pytest
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.csv_table import Observed, contradictions, read_table
from loadgo.transfers.parts import against_load, parts_of
from loadgo.transfers.prices import prices
from support.transfer_tables import COLUMNS, SEED


def made_of(transfer: float, message: float, byte: float, *, noise: float = 0.0, count: int = 40) -> list[Observed]:
    """Transfers of many sizes and messages whose parts are these, in seconds."""
    random = np.random.default_rng(1972)
    found = []
    for at in range(count):
        size = int(10 ** random.uniform(2, 6))
        messages = -(-size // int(random.choice([64, 512, 4096])))
        cpu_s = (transfer + message * messages + byte * size) * (1 + noise * random.standard_normal())
        found.append(Observed(f"row {at}", "s", "blocks", size, cpu_s, messages=messages))
    return found


def test_the_seeds_table_is_read_and_its_contradictions_are_named() -> None:
    table = read_table(SEED, COLUMNS)
    assert (len(table.transfers), table.left_out) == (77, ())
    assert [told.split(":")[0] for told in table.contradictions] == ["row 33 of table 2"]
    assert [told.split(":")[0] for told in table.slight] == ["row 16 of table 1"]


def test_the_seeds_transfers_cost_what_the_memo_says() -> None:
    sends, receives = parts_of(read_table(SEED, COLUMNS).transfers)
    for kind in (sends, receives):
        each = {part.of: part.each_s for part in kind.parts}
        assert 600e-6 <= each["byte"] <= 700e-6
    assert receives.parts[-1].each_s > sends.parts[-1].each_s


def test_known_parts_come_out_of_their_sum() -> None:
    (kind,) = parts_of(made_of(2e-3, 5e-6, 1e-9))
    assert {part.of: part.each_s for part in kind.parts} == pytest.approx(
        {"transfer": 2e-3, "message": 5e-6, "byte": 1e-9}
    )
    assert sum(part.share for part in kind.parts) == pytest.approx(1)
    assert kind.off < 1e-9


def test_intervals_hold_what_noise_hides() -> None:
    (kind,) = parts_of(made_of(2e-3, 5e-6, 1e-9, noise=0.05))
    for part, true in zip(kind.parts, (2e-3, 5e-6, 1e-9), strict=True):
        assert part.interval is not None
        assert part.interval.holds(true)
        assert part.interval.low < part.interval.high


def test_what_cannot_be_told_apart_is_said() -> None:
    alike = [
        Observed(f"row {size}", "s", "", size, 1e-6 * size, messages=size // 100, faults=0)
        for size in (1000, 5000, 90000)
    ]
    (kind,) = parts_of(alike)
    assert [part.of for part in kind.parts] == ["transfer", "byte"]
    assert "a part for each message cannot be told from one for each byte" in kind.untold
    assert "there are no faults" in kind.untold


def test_the_price_hardly_moves_with_the_load_and_the_stretch_does() -> None:
    among = [
        Observed(f"row {at}", "s", "", 10_000, 6.5 + 0.01 * (at % 3), real_s=6.5 * (1 + at % 7), load=float(at % 7))
        for at in range(40)
    ]
    a_bit, stretch = against_load(among)
    assert abs(a_bit.slope) < 0.01 * a_bit.at_none
    assert stretch.slope == pytest.approx(1, rel=0.01)
    assert stretch.slope_interval is not None
    assert stretch.slope_interval.low > 0.9


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"bytes": "1000", "cpu_s": "9", "real_s": "3"}, "9 s of processor time in 3 s"),
        ({"bytes": "1000", "cpu_s": "1", "us_per_bit": "300"}, "300 µs a bit printed"),
        ({"bytes": "1000", "cpu_s": "1", "real_s": "10", "bits_per_s": "80"}, "80 bits a second printed"),
    ],
)
def test_a_row_that_contradicts_itself_is_told(cells: dict[str, str], told: str) -> None:
    (said,) = contradictions(cells)
    assert told in said.text
    assert not said.is_slight


def test_wrong_rounding_is_a_note_and_no_warning(tmp_path: Path) -> None:
    """84.86 µs a bit were printed in 1972 where 84.90 follow: the row was as loud as one that is wrong by 2.5 times."""
    path = tmp_path / "slight.csv"
    rows = ["s,1000,0.80000,100.2", "s,1000,0.80000,300"]
    path.write_text("\n".join(["direction,bytes,cpu_s,us_per_bit", *rows, "s,1000,0.80000,100"]))
    table = read_table(path)
    assert [said.partition(":")[0] for said in table.slight] == ["row 1"]
    assert [said.partition(":")[0] for said in table.contradictions] == ["row 2"]


def test_rounding_is_no_contradiction() -> None:
    assert not contradictions({"bytes": "18930", "cpu_s": "11.61", "real_s": "14", "bits_per_s": "10152.175"})


@pytest.mark.parametrize(
    ("text", "columns", "told"),
    [
        ("", {}, "is empty"),
        ("a,b\n1,2\n", {}, "`columns=bytes=NAME"),
        ("bytes,direction,cpu_s\n", {}, "no row"),
        ("bytes,direction,cpu_s\n5,x,1\n", {}, "neither s"),
        ("bytes,direction,cpu_s\n5,s,-1\n", {}, "0 or more"),
        ("bytes,direction,cpu_s\n5.5,s,1\n", {}, "no whole number"),
        ("bytes,direction,cpu_s\nNaN,s,1\n", {}, "NaN"),
        ("bytes,direction,cpu_s\n5,s,1\n", {"cpu_s": "zeit"}, "has no column zeit"),
        ("bytes,direction,cpu_s\n5,s,1\n", {"pigeons": "bytes"}, "there is no pigeons"),
    ],
)
def test_a_table_that_is_none_is_refused_in_words(
    tmp_path: Path, text: str, columns: dict[str, str], told: str
) -> None:
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ValueError, match=told):
        read_table(tmp_path / "table.csv", columns)


def test_a_row_that_cannot_be_read_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("bytes,direction,cpu_s\n100,s,1\nmany,s,1\n200,r,2\n")
    table = read_table(tmp_path / "table.csv")
    assert [one.bytes for one in table.transfers] == [100, 200]
    assert table.left_out == ("row 2: bytes 'many' is no number",)


@pytest.mark.parametrize("format", ["text", "html", "md", "json"])
def test_every_format_tells_the_seeds_answer(format: str) -> None:
    parts = taken_apart(read_table(SEED, COLUMNS), prices("tenex-1972", "arpanet-1970"))
    content = parts.report(format, width=80)
    if format == "json":
        assert json.loads(content)["kinds"][0]["transfers"] == 39
        return
    for told in ("$10.3", "$11.1", "row 33 of table 2"):
        assert told in content
    if format == "text":
        assert max(map(len, content.splitlines())) <= 80


@pytest.mark.parametrize("number", ["1e400", "1e300", "1e-300"])
def test_a_number_that_nothing_can_be_is_left_out(tmp_path: Path, number: str) -> None:
    (tmp_path / "table.csv").write_text(f"bytes,direction,cpu_s\n100,s,1\n100,s,{number}\n200,r,2\n")
    table = read_table(tmp_path / "table.csv")
    assert len(table.transfers) == 2
    assert "row 2" in table.left_out[0]
