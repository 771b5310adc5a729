"""Laws as a machine file has them: read, changed in mean and spread, written, and chosen by what was measured."""

import re

import numpy as np
import pytest
from loadgo import _loadgo
from loadgo.fitting.law_choice import choose_law
from loadgo.notation.laws import Law, read_law, scaled, spread_out, written
from loadgo.prediction.fitted import drawn_settings, fitted_in, parts_of

LAWS = [
    "fixed(5ms)",
    "uniform(2ms, 15ms)",
    "exponential(8ms)",
    "lognormal(8ms, 4ms)",
    "erlang(3, 8ms)",
    "hyperexponential(8ms, 4)",
    "pareto(8ms, 2.5)",
    "empirical([1ms, 2ms, 30ms])",
    "exponential(8ms, max 60ms)",
    "lognormal(8ms, 4ms, min 1ms, max 60ms)",
]

MACHINE = """\
title  = "t"
source = "s"
[storage.disk]
kind    = "server"
service = "exponential(4ms)"
[commands."a.out"]
cpu      = "lognormal(80ms, 120ms)"
requests = { disk = 3.5 }
[fit]
parameters = [
    { key = 'commands."a.out".cpu', of = "mean", value = "80ms" },
    { key = 'commands."a.out".cpu', of = "spread", value = "1.5" },
    { key = 'commands."a.out".requests.disk', value = "3.5" },
    { key = "storage.disk.service", value = "4ms" },
]
covariance = [[0.01, 0, 0, 0], [0, 0.04, 0, 0], [0, 0, 0.0001, -0.001], [0, 0, -0.001, 0.04]]
"""


def printed(cpu: str) -> str:
    """A law as loadgo prints it in a machine."""
    told = _loadgo.parse_machine(f'title = "t"\nsource = "s"\n[commands.x]\ncpu = "{cpu}"\n', [])["text"]
    return str(told).split("cpu = ")[1].split("\n")[0].strip('"')


@pytest.mark.parametrize("law", LAWS)
def test_a_law_that_is_read_and_written_is_the_same_to_the_machine(law: str) -> None:
    assert printed(written(read_law(printed(law)))) == printed(law)


@pytest.mark.parametrize("law", LAWS)
def test_a_law_scaled_has_its_mean_scaled_and_keeps_its_spread(law: str) -> None:
    before, after = read_law(law), scaled(read_law(law), 1.25)
    assert after.mean == pytest.approx(1.25 * before.mean)
    assert after.spread == pytest.approx(before.spread)
    assert printed(written(after)), "it is a law of the machine file"


@pytest.mark.parametrize("law", ["lognormal(8ms, 4ms)", "hyperexponential(8ms, 4)", "empirical([7ms, 8ms, 9ms])"])
def test_a_law_spread_out_keeps_its_mean(law: str) -> None:
    before, after = read_law(law), spread_out(read_law(law), 1.2)
    assert after.mean == pytest.approx(before.mean)
    assert after.spread == pytest.approx(1.2 * before.spread, rel=0.02)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("often", "`often` is no law"),
        ("gamma(3ms)", "`gamma` is no law"),
        ("exponential(soon)", '"soon" is not a time'),
        ("none", "'none' is no law of a machine file"),
        ("1min 30s", '"min 30s" is not a unit of time'),
        ("metered, 1 times", "`metered` is no law"),
    ],
)
def test_what_is_no_law_is_said_to_be_none(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        read_law(text)


def test_a_number_alone_is_a_fixed_law_without_a_unit() -> None:
    assert read_law(3) == read_law("3") == Law("fixed", (3.0,), timed=False)


def test_the_law_is_the_simplest_that_the_values_do_not_contradict() -> None:
    random = np.random.default_rng(3)
    assert choose_law(np.full(50, 3e6)).law == Law("fixed", (3e6,), timed=True)
    assert choose_law(random.exponential(5e6, 2000)).law.name == "exponential"
    assert choose_law(random.lognormal(15, 0.5, 2000)).law.name == "lognormal"
    two = np.concatenate([random.normal(1e6, 1e4, 500), random.normal(9e6, 1e4, 500)])
    law = choose_law(two).law
    assert (law.name, law.mean) == ("empirical", pytest.approx(float(two.mean())))
    assert law.spread == pytest.approx(float(two.std() / two.mean()), rel=0.02)


def test_named_laws_are_found_at_the_rate_that_the_test_of_fit_has() -> None:
    """At 5 %, of 200 exponential samples more than 20 refused would come once in thousands."""
    random = np.random.default_rng(4)
    refused = sum(choose_law(random.exponential(1.0, 60)).law.name != "exponential" for _ in range(200))
    assert refused <= 20


def test_a_drawing_changes_what_was_fitted_within_its_doubt() -> None:
    draws = drawn_settings(MACHINE, 400)
    assert draws[:3] == drawn_settings(MACHINE, 3), "drawing k is the same however many there are"
    laws = [{key: read_law(value) for key, _, value in (one.partition("=") for one in settings)} for settings in draws]
    cpu = np.log([one['commands."a.out".cpu'].mean / 80e6 for one in laws])
    spreads = np.log([one['commands."a.out".cpu'].spread / 1.5 for one in laws])
    asked = np.log([float(written(one['commands."a.out".requests.disk'])) / 3.5 for one in laws])
    service = np.log([one["storage.disk.service"].mean / 4e6 for one in laws])
    assert cpu.std() == pytest.approx(0.1, rel=0.15)
    assert spreads.std() == pytest.approx(0.2, rel=0.15)
    assert np.corrcoef(asked, service)[0, 1] == pytest.approx(-0.5, abs=0.12)
    for settings in draws[:5]:
        _loadgo.parse_machine(MACHINE, list(settings))


def test_what_was_changed_since_the_fit_is_left_as_it_is() -> None:
    changed = MACHINE.replace("exponential(4ms)", "exponential(2ms)").replace("disk = 3.5", "disk = 7")
    keys = {setting.partition("=")[0] for setting in drawn_settings(changed, 1)[0]}
    assert keys == {'commands."a.out".cpu'}
    assert drawn_settings(MACHINE.split("[fit]")[0], 5) == []
    assert fitted_in(MACHINE.split("[fit]")[0]) is None


def test_the_names_in_a_key_may_hold_dots_in_quotes() -> None:
    assert parts_of('commands."a.out".cpu') == ["commands", "a.out", "cpu"]
