"""A list of hosts: its grammar, whose mistakes have a place and a remedy, and the range of users of each host."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loadgo.errors import BadArgument, Mistake
from loadgo.hosts.address import Address
from loadgo.hosts.fleet import FleetHost, fewest_users, is_fleet, parse_fleet, read_fleet, user_ranges

TWO = """# login nodes
[[hosts]]
address = "ssh://login1"

[[hosts]]
name    = "big"
address = "ssh://ann@login2:2222"
weight  = 2
"""


def test_a_host_has_an_address_and_may_have_a_name_and_a_weight() -> None:
    assert parse_fleet(TWO) == (
        FleetHost("login1", Address("login1"), 1),
        FleetHost("big", Address("login2", "ann", 2222), 2),
    )


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("", "line 1, column 1", 'write [[hosts]], and address = "ssh://HOST"'),
        ("users = 3\n", "line 1, column 1", "users is not known: a list of hosts has an entry [[hosts]]"),
        (f"{TWO}wieght = 3\n", "line 9, column 1", "did you mean weight?"),
        (f'{TWO}[[hosts]]\naddress = "login3"\n', "line 10, column 1", 'write address = "ssh://login3"'),
        (f'{TWO}[[hosts]]\naddress = "ssh://a b"\n', "line 10, column 1", "of which only HOST is needed"),
        (f'{TWO}[[hosts]]\naddress = "ssh://a:b@c"\n', "line 10, column 1", "a password, which other users"),
        (f'{TWO}[[hosts]]\naddress = "ssh://login1"\n', "line 10, column 1", 'write name = "…" to tell them apart'),
        (f'{TWO}[[hosts]]\nname = "c"\n', "line 9, column 1", 'write address = "ssh://HOST"'),
        (TWO.replace("= 2", "= 0"), "line 8, column 1", "write a number over 0"),
        (TWO.replace("= 2", "= true"), "line 8, column 1", "write a number over 0"),
        (TWO.replace('"big"', '"../big"'), "line 6, column 1", "a name of letters, digits, dots and hyphens"),
        (TWO.replace('"big"', '"here"'), "line 6, column 1", "here is this host"),
        ('hosts = [{ address = "ssh://a", weight = -1 }]', "line 1, column 33", "write a number over 0"),
        ("[[hosts]\n", "line 1, column 8", "this is not TOML"),
    ],
)
def test_a_mistake_has_its_place_and_says_what_is_right(text: str, place: str, words: str) -> None:
    with pytest.raises(Mistake) as found:
        parse_fleet(text)
    assert str(found.value).startswith(place)
    assert words in str(found.value)


def test_a_list_of_hosts_is_told_from_a_machine_file(tmp_path: Path) -> None:
    hosts, machine = tmp_path / "hosts.toml", tmp_path / "machine.toml"
    hosts.write_text(TWO)
    machine.write_text('title = "a machine"\nlike = "multics-645"\n')
    assert is_fleet(str(hosts))
    assert not is_fleet(str(machine))
    assert not is_fleet(str(tmp_path / "missing.toml"))
    assert not is_fleet("here")


def test_a_mistake_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text("[[hosts]]\n")
    with pytest.raises(Mistake, match=r"hosts\.toml, line 1, column 1: the host has no address"):
        read_fleet(str(path))
    path.write_bytes(b"[[hosts]]\nname = '\xff'\n")
    with pytest.raises(BadArgument, match="byte 19 of the file is not UTF-8"):
        read_fleet(str(path))


def hosts_of(weights: list[float]) -> list[FleetHost]:
    return [FleetHost(f"h{number}", Address("h"), weight) for number, weight in enumerate(weights)]


def test_users_are_spread_in_ranges_by_weight() -> None:
    ranges = user_ranges(hosts_of([1, 2, 1]), 600)
    assert [(one.first, one.last) for one in ranges] == [(1, 150), (151, 450), (451, 600)]


def test_a_host_without_users_is_refused() -> None:
    with pytest.raises(BadArgument, match="`users=2` are too few for 3 hosts"):
        user_ranges(hosts_of([1, 1, 1]), 2)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(0, 50))
def test_each_host_has_users_from_the_fewest_on(weights: list[int], more: int) -> None:
    hosts = hosts_of([float(weight) for weight in weights])
    assert all(one.count for one in user_ranges(hosts, fewest_users(hosts) + more))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.integers(0, 500))
def test_ranges_hold_each_user_once_and_are_off_their_share_by_less_than_one(weights: list[int], more: int) -> None:
    users = 9 * len(weights) + more
    ranges = user_ranges(hosts_of([float(weight) for weight in weights]), users)
    assert [user for one in ranges for user in range(one.first, one.last + 1)] == list(range(1, users + 1))
    for one, weight in zip(ranges, weights, strict=True):
        assert abs(one.count - users * weight / sum(weights)) <= 1
