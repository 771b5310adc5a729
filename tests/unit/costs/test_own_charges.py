"""Prices of files with printed figures of a user's own, against each other and against documents."""

from pathlib import Path

import pytest
from loadgo.costs.fairness import cost_against
from support.command_line import typed
from support.own_figures import AFTER, SMALLEST, WHOLE, written


def test_printed_charges_are_judged_as_those_of_a_document(tmp_path: Path) -> None:
    before, after = written(tmp_path, WHOLE), written(tmp_path, AFTER, "after.toml")
    for other in (after, "csr-rfc-20:6180"):
        price = next(price for price in cost_against(before, other).prices if price.shift == "1")
        assert price.verdict("cpu") == "fair"
        assert price.charges.value == pytest.approx(1995.07 / 685.66, rel=1e-2)


def test_processor_seconds_are_enough_with_a_tariff(tmp_path: Path) -> None:
    before, after = written(tmp_path, SMALLEST), written(tmp_path, SMALLEST.replace("14213", "4860"), "after.toml")
    tariff = written(tmp_path, 'source = "a test"\ncpu_hour = 100\n', "tariff.toml")
    fairness = cost_against(before, after, tariff=str(tariff))
    assert fairness.performance["cpu"].value == pytest.approx(14213 / 4860)
    assert "elapsed" not in fairness.performance


def test_charges_have_the_currency_of_the_file(tmp_path: Path) -> None:
    files = (
        written(tmp_path, text.replace("interactions", 'currency = "€"\ninteractions', 1), name)
        for text, name in ((WHOLE, "before.toml"), (AFTER, "after.toml"))
    )
    assert "€" in str(cost_against(*files).report(width=120))


def test_a_file_alone_is_not_priced_command_by_command(tmp_path: Path) -> None:
    written(tmp_path, WHOLE)
    refusal = typed(tmp_path, "cost", "before.toml", status=2)
    assert "before.toml is printed, and only runs are priced command by command" in " ".join(refusal.stderr.split())
    assert "--against" in refusal.stderr


def test_a_side_without_charges_wants_a_tariff(tmp_path: Path) -> None:
    written(tmp_path, SMALLEST)
    refusal = typed(tmp_path, "cost", "before.toml", "--against", "csr-rfc-20:6180", status=2)
    assert "before.toml has no printed charges: name a tariff for it" in " ".join(refusal.stderr.split())


def test_a_contradiction_stands_over_the_prices(tmp_path: Path) -> None:
    written(tmp_path, WHOLE.replace("53.33", "63.33"))
    page = typed(tmp_path, "cost", "before.toml", "--against", "csr-rfc-20:6180").stdout
    assert "see `loadgo reproduce before.toml`" in " ".join(page.split())
