"""Amounts that arguments are written with."""

import pytest
from loadgo.errors import BadArgument
from loadgo.notation.quantities import byte_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("512", 512),
        ("4M", 4 << 20),
        ("4 m", 4 << 20),
        ("1.5K", 1536),
        ("2G", 2 << 30),
        ("4MB", 4_000_000),
        ("1GiB", 1 << 30),
    ],
)
def test_a_size_may_be_written_as_in_a_limit(text: str, count: int) -> None:
    assert byte_count(text, "size") == count


def test_another_unit_is_refused_with_examples() -> None:
    with pytest.raises(BadArgument, match="`size`: '4Q' is no number of bytes: write 1GiB, 4M, 64MB or 512"):
        byte_count("4Q", "size")
