"""The hosts from which users are driven, as they are named."""

from pathlib import Path

import pytest
from loadgo.errors import BadArgument, Mistake
from loadgo.hosts.address import Address, ThisHost
from loadgo.hosts.fleet import parse_driver_hosts, user_ranges


def test_names_are_hosts_as_ssh_knows_them_and_this_host_may_be_among_them() -> None:
    hosts = parse_driver_hosts(["gen1,ssh://ann@gen2:2222, here"])
    assert [(host.name, host.address, host.weight) for host in hosts] == [
        ("gen1", Address("gen1"), 1),
        ("gen2", Address("gen2", "ann", 2222), 1),
        ("here", ThisHost(), 1),
    ]
    assert [str(host.address) for host in hosts] == ["ssh://gen1", "ssh://ann@gen2:2222", "here"]
    assert parse_driver_hosts(["gen1", "gen2"]) == parse_driver_hosts("gen1,gen2")


def test_a_list_of_hosts_has_names_and_weights_and_this_host_may_be_in_it(tmp_path: Path) -> None:
    path = tmp_path / "gens.toml"
    path.write_text('[[hosts]]\naddress = "ssh://gen1"\nweight = 3\n[[hosts]]\naddress = "here"\n')
    hosts = parse_driver_hosts(str(path))
    assert [(host.name, host.weight) for host in hosts] == [("gen1", 3), ("here", 1)]
    assert [(users.first, users.last) for users in user_ranges(hosts, 8)] == [(1, 6), (7, 8)]
    path.write_text('[[hosts]]\nname = "here"\naddress = "ssh://gen1"\n')
    with pytest.raises(Mistake, match="'here' is no name for a host"):
        parse_driver_hosts(str(path))


@pytest.mark.parametrize(
    ("driven_from", "message"),
    [
        (["gen1,gen1"], "`driven_from` names gen1 twice"),
        (["gen1", "ssh://ann@gen1"], "`driven_from` names gen1 twice"),
        (["gen1,"], "`driven_from` has a name that is empty: write names with commas between"),
        ([""], "`driven_from` has a name that is empty"),
        (["-x"], "`driven_from=-x` is no host: write names with commas between"),
        (["-oProxyCommand=x"], "is no host"),
        (["ssh://ann:secret@gen1"], "is no host"),
    ],
)
def test_what_is_no_host_is_told_with_what_would_be_right(driven_from: list[str], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        parse_driver_hosts(driven_from)


def test_a_name_that_ends_as_a_list_is_a_list(tmp_path: Path) -> None:
    with pytest.raises(BadArgument, match="cannot be read: No such file or directory"):
        parse_driver_hosts(str(tmp_path / "gens.toml"))
