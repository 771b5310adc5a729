"""Machine files from Python: found by name or path, laid over each other, mistakes named with their file."""

from pathlib import Path

import pytest
from loadgo.errors import Mistake
from loadgo.running.machines import (
    find,
    machine_names,
    machine_summary,
    machine_text,
    machines,
)

BASE = 'title = "base"\nsource = "made up"\n[commands.x]\ncpu = "1s"\n'


def test_each_bundled_machine_has_a_title_and_says_where_its_figures_are_from() -> None:
    assert {"ctss", "multics-645", "multics-6180", "tenex"} <= set(machine_names())
    assert [machine.name for machine in machines()] == machine_names()
    assert all(machine.title and machine.source and machine.commands for machine in machines())


def test_an_unknown_machine_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"no machine called 'ctsss'; did you mean ctss\?"):
        find("ctsss")


def test_a_host_where_a_machine_is_asked_for_is_told_how_hosts_are_written() -> None:
    with pytest.raises(ValueError, match="another host as ssh://login1"):
        find("login1")
    for written in ("SSH://login1", "ssh:login1", Path("ssh://login1")):
        with pytest.raises(ValueError, match=r"is no simulated machine\. Another host is written ssh://"):
            find(written)


def test_a_file_that_is_like_another_beside_it_means_the_same_from_anywhere(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(BASE)
    (tmp_path / "mine.toml").write_text('like = "base.toml"\ntitle = "mine"\n[processors]\ncount = 3\n')
    machine = machine_summary(tmp_path / "mine.toml")
    assert (machine.title, machine.processors, machine.commands) == ("mine", 3, ("x",))


def test_the_name_of_a_command_is_never_taken_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a file that has a command's name")
    (tmp_path / "mine.toml").write_text(BASE + '[commands.y]\nlike = "x"\n')
    assert machine_summary(tmp_path / "mine.toml").commands == ("x", "y")


def test_a_mistake_names_the_file_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(BASE.replace('"1s"', '"1"'))
    (tmp_path / "mine.toml").write_text('like = "base.toml"\n')
    with pytest.raises(Mistake) as theirs:
        machine_summary(tmp_path / "mine.toml")
    assert (theirs.value.file, theirs.value.line, theirs.value.column) == (str(tmp_path / "base.toml"), 4, 9)
    (tmp_path / "mine.toml").write_text(BASE.replace("cpu", "cup"))
    with pytest.raises(Mistake, match="did you mean `cpu`") as own:
        machine_summary(tmp_path / "mine.toml")
    assert (own.value.file, own.value.line) == (str(tmp_path / "mine.toml"), 4)


def test_a_file_is_printed_as_it_stands_and_merged_with_what_is_set(tmp_path: Path) -> None:
    assert machine_text("multics-645") == find("multics-645").path.read_text()
    merged = machine_text("multics-6180", ["memory.frames=300"])
    assert "frames = 300\n" in merged
    assert "like" not in merged
    (tmp_path / "again.toml").write_text(merged)
    assert machine_text(tmp_path / "again.toml", ["memory.frames=300"]) == merged


@pytest.mark.parametrize("set", ["processors.count", "processors.count=0", "processors.cuont=2", "like=ctss"])
def test_a_mistake_in_what_is_set_names_the_setting(set: str) -> None:
    with pytest.raises(ValueError, match=f"^`set={set}`: "):
        machine_summary("ctss", [set])
