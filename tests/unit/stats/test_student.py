"""Student's t, against scipy, which computes it in another way."""

import pytest
from loadgo.stats.student import student_reach
from scipy import special


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_the_reach_is_the_quantile_of_students_distribution(confidence: float) -> None:
    for degrees in (*range(1, 200), 500, 999, 1023, 16_000):
        exact = special.stdtrit(degrees, (1 + confidence) / 2)
        assert student_reach(degrees, confidence) == pytest.approx(exact, rel=1e-11)


def test_printed_values_of_the_table() -> None:
    """Abramowitz and Stegun, 1964, table 26.10, column 0.975 (A = 0.95)."""
    for degrees, printed in ((1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980)):
        assert round(student_reach(degrees), 3) == printed
