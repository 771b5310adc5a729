"""The grammar of laws as Python calls it: the names, values and bounds that scripts and machine files write."""

import pytest
from loadgo import _loadgo


def parts(text: str) -> tuple[str, list[float], bool, float | None, float | None]:
    law = _loadgo.parse_law(text)
    return law["kind"], law["parameters"], law["timed"], law["least"], law["most"]


def test_times_are_nanoseconds_and_numbers_stay_as_they_are() -> None:
    assert parts("lognormal(80ms, 120ms, max 2s)") == ("lognormal", [80e6, 120e6], True, None, 2e9)
    assert parts("erlang(3, 8ms)") == ("erlang", [3.0, 8e6], True, None, None)
    assert parts("hyperexponential(8, 4, min 1)") == ("hyperexponential", [8.0, 4.0], False, 1.0, None)
    assert parts("empirical([1, 2, 3])") == ("empirical", [1.0, 2.0, 3.0], False, None, None)
    assert parts("geometric(8)") == ("geometric", [8.0], False, None, None)


def test_an_amount_alone_is_a_fixed_law_and_none_has_no_values() -> None:
    assert parts("3.3ms") == ("fixed", [3.3e6], True, None, None)
    assert parts("20") == ("fixed", [20.0], False, None, None)
    assert parts("none") == ("none", [], True, None, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exponental(8s)", "exponential"),
        ("uniform(2s)", "two values"),
        ("exponential(8s", "parenthesis"),
        ("uniform(2s 15s)", "comma"),
        ("exponential(8s, max 2)", "no unit"),
        ("exponential(8s, min 9s, max 2s)", "over"),
    ],
)
def test_a_mistake_is_told_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _loadgo.parse_law(text)
