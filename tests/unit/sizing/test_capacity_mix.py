"""Users of several classes in one load: the class of each user, and scripts that cannot be mixed."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import loadgo
import pytest
from loadgo import _loadgo
from loadgo.sizing.mix import nearest_seed, parse_mix

MACHINE = """title = "two kinds"
source = "a textbook"
[processors]
discipline = "sharing"
[commands.heavy]
cpu = "exponential(1.2s)"
[commands.easy]
cpu = "exponential(0.1s)"
"""


def mix_in(folder: Path) -> str:
    """Writes scripts and a machine into `folder`; returns the mix of one heavy user and three easy ones."""
    (folder / "heavy.toml").write_text('think = "exponential(10s)"\nlines = ["heavy"]\n', encoding="utf-8")
    (folder / "easy.toml").write_text('think = "fixed(5s)"\nlines = ["easy", "easy"]\n', encoding="utf-8")
    (folder / "machine.toml").write_text(MACHINE, encoding="utf-8")
    return f"{folder}/heavy.toml=1,{folder}/easy.toml=3"


def test_classes_are_as_near_to_their_weights_as_they_can_be(tmp_path: Path) -> None:
    mix = parse_mix(mix_in(tmp_path))
    assert [(mix_class.name, mix_class.weight) for mix_class in mix.classes] == [("heavy", 1), ("easy", 3)]
    for users in (4, 12):
        seed, taken = nearest_seed(mix, users, 3)
        assert nearest_seed(mix, users, 3) == (seed, taken)
        assert abs(Counter(taken)["heavy"] - users / 4) <= 1
        assert len(taken) == users


@pytest.mark.long
def test_each_class_types_its_own_script_and_thinks_its_own_way(tmp_path: Path) -> None:
    capacity_result = loadgo.capacity(
        mix=mix_in(tmp_path), on=str(tmp_path / "machine.toml"), target="busy < 60%", within=4, max_users=30
    )
    assert [(mix_class.name, mix_class.weight) for mix_class in capacity_result.classes] == [("heavy", 1), ("easy", 3)]
    assert capacity_result.end == "found"
    point = max(capacity_result.points, key=lambda point: point.interactions)
    classes = {figures.name: figures for figures in point.classes}
    assert classes["easy"].users == pytest.approx(3 * classes["heavy"].users, abs=4)
    assert classes["easy"].think_s == pytest.approx(5.0, rel=1e-6)
    assert classes["heavy"].think_s == pytest.approx(10.0, rel=0.2)
    assert classes["heavy"].cpu_s == pytest.approx(1.2, rel=0.3)
    assert sum(figures.throughput for figures in point.classes) == pytest.approx(point.throughput.value, rel=1e-6)


def test_the_script_of_a_mix_is_a_script(tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(
        'login = "sh"\n[files]\n"a b.txt" = "x\\n\\"y\\""\n[words]\nw = ["1", "é"]\n'
        '[[lines]]\ntype = "cat {random:w}\\t\'q\'"\nas = "odd one"\nstatus = [0, 1]\n',
        encoding="utf-8",
    )
    mix = parse_mix(f"{tmp_path}/odd.toml=2,typical-user=1")
    script = _loadgo.parse_script(mix.source.text)
    assert "odd one" in [name for _, name in script["lines"]]
    assert mix.first_lines == (1, 2)


@pytest.mark.parametrize(
    ("mix", "words"),
    [
        ("typical-user=1", "at least two"),
        ("typical-user=1,light", "not a script with an integer weight"),
        ("typical-user=1,light=0", "not a script with an integer weight"),
        ("typical-user=1,typical-user=2", "the same name"),
        ("typical-user=1,nobody=2", "there is no script called 'nobody'"),
    ],
)
def test_a_text_that_is_not_a_mix_is_refused(mix: str, words: str) -> None:
    with pytest.raises(ValueError, match=r".") as refused:
        parse_mix(mix)
    assert words in str(refused.value)


def test_scripts_with_other_log_ins_cannot_be_one_session(tmp_path: Path) -> None:
    (tmp_path / "far.toml").write_text('login = "ssh far"\nlines = ["ls"]\n', encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"differ in login, and a session has one \(far has \"ssh far\"; light has \"sh\"\)"
    ):
        parse_mix(f"{tmp_path}/far.toml=1,light=2")


def test_scripts_with_other_typing_rates_are_one_session_if_a_rate_is_given_for_all() -> None:
    with pytest.raises(ValueError, match=r"hog-cpu has none; light has \"8 chars/s\"\): give all users one rate with"):
        parse_mix("hog-cpu=1,light=2")
    joined = parse_mix("hog-cpu=1,light=2", "20 chars/s").source.text
    assert tomllib.loads(joined)["typing"] == "20 chars/s"


@pytest.mark.parametrize("seed", [-1, 2**62])
def test_a_seed_out_of_range_is_refused_by_both_searches(seed: int) -> None:
    with pytest.raises(ValueError, match="seeds lie between 0 and"):
        loadgo.capacity("light", on="ctss", target="p90 < 1s", seed=seed)
    with pytest.raises(ValueError, match="seeds lie between 0 and"):
        loadgo.capacity_of_limit("light", vary="limit-each.cpus=1:2", target="p90 < 1s", users=2, seed=seed)


def test_a_script_and_a_mix_together_are_refused_and_so_is_neither() -> None:
    for script, mix in ((None, None), ("light", "light=1,typical-user=1")):
        with pytest.raises(ValueError, match="name a script, or a mix"):
            loadgo.capacity(script, mix=mix, on="ctss", target="p90 < 1s")
