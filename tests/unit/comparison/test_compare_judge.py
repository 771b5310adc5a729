"""A prediction judged: right, wrong, or not to be told; and what a page says of each."""

import math
from collections.abc import Mapping

import pytest
from loadgo.comparison.judgement import Judged, judged_of, share_of
from loadgo.comparison.judgement_words import judged_in_words, unjudged_names, why_not_judged
from loadgo.comparison.rows import Difference
from loadgo.stats.resample import Interval


def told(
    measured: float, interval: tuple[float, float] | None, own: float = 3.0, theirs: float = 3.0
) -> Mapping[str, Difference]:
    """A response predicted to be 100, with an interval of the difference and those of the sides to each side."""
    return {
        "response": Difference(
            measure="response",
            before=100.0,
            after=measured,
            interval=None if interval is None else Interval(*interval),
            before_interval=Interval(100 - own, 100 + own),
            after_interval=Interval(measured - theirs, measured + theirs),
        )
    }


def judged(whole: Mapping[str, Difference], doubt: Interval | None = None, within: float = 0.2) -> Judged:
    (found,) = judged_of(whole, {} if doubt is None else {"response": doubt}, within)
    return found


@pytest.mark.parametrize(
    ("measured", "interval", "judgement"),
    [
        (105.0, (-4.0, 14.0), "inside"),
        (105.0, (-14.0, 24.0), "too wide to judge"),
        (80.0, (-45.0, 5.0), "too wide to judge"),
        (105.0, (1.0, 9.0), "outside"),
        (160.0, (20.0, 100.0), "outside"),
        (105.0, None, "not to be judged"),
    ],
)
def test_inside_is_only_what_is_shown_to_be_near(
    measured: float, interval: tuple[float, float] | None, judgement: str
) -> None:
    assert judged(told(measured, interval)).judgement == judgement


def test_a_wide_interval_passes_when_less_is_asked_for() -> None:
    wide = told(105.0, (-14.0, 24.0))
    assert judged(wide, within=share_of("25%")).judgement == "inside"
    assert judged(wide, within=share_of("23.9")).judgement == "too wide to judge"


def test_the_doubt_of_the_parameters_widens_the_interval_by_the_root_of_the_squares() -> None:
    judgement = judged(told(110.0, (4.0, 16.0)), Interval(0.96, 1.04))
    assert judgement.before_interval is not None
    logs = [math.log(end / 100) for end in (judgement.before_interval.low, judgement.before_interval.high)]
    assert logs == pytest.approx(
        [-math.hypot(math.log(0.97), math.log(0.96)), math.hypot(math.log(1.03), math.log(1.04))]
    )
    assert judgement.interval is not None
    ends = [math.log1p(end / 100) - math.log(1.1) for end in (judgement.interval.low, judgement.interval.high)]
    assert ends == pytest.approx([-math.hypot(math.log(107 / 110), logs[1]), math.hypot(math.log(113 / 110), logs[0])])
    assert judged(told(110.0, (4.0, 16.0))).judgement == "outside"
    assert judged(told(110.0, (4.0, 16.0)), Interval(0.9, 1.1)).judgement == "too wide to judge"


def test_a_doubt_on_one_side_widens_the_interval_on_that_side_alone() -> None:
    """Where draws are higher than the machine as fitted, what is measured may be lower than the right prediction."""
    judgement = judged(told(100.0, (-5.0, 5.0), own=0.0, theirs=0.0), Interval(1.01, 1.12))
    assert judgement.interval is not None
    assert (judgement.interval.low, judgement.interval.high) == pytest.approx((100 / 1.12 - 100, 0.0))


def test_what_could_not_be_judged_is_told_with_the_side_that_makes_it_so() -> None:
    by_measuring = judged(told(105.0, (-30.0, 40.0), own=5.0, theirs=30.0))
    by_predicting = judged(told(105.0, (-30.0, 40.0), own=30.0, theirs=5.0))
    by_fitting = judged(told(105.0, (-30.0, 40.0), own=1.0, theirs=5.0), Interval(0.6, 1.4))
    said = [why_not_judged((one,))[0] for one in (by_measuring, by_predicting, by_fitting)]
    assert "may be off by 40 %" in said[0]
    assert [words.split("would pass: ")[1].split(", or")[0] for words in said] == [
        "measure for longer",
        "predict for longer",
        "fit the machine from more interactions",
    ]
    right, wrong = judged(told(100.0, (-4.0, 4.0))), judged(told(150.0, (40.0, 60.0)))
    assert judged_in_words((by_measuring,)) == (
        "Whether the prediction is right within 20 % in response cannot be told."
    )
    assert judged_in_words((right,)) == "The prediction is right within 20 % in response."
    assert judged_in_words((right, by_measuring)) == (
        "The prediction is right within 20 % in response; in response that cannot be told."
    )
    assert judged_in_words((wrong, right, by_measuring)) == (
        "The prediction is wrong in response, and not by chance; it is right within 20 % in response; in response that "
        "cannot be told."
    )
    assert unjudged_names((wrong, right, by_measuring)) == ["response"]


@pytest.mark.parametrize("text", ["", "0%", "-5%", "near", "20 percent"])
def test_a_limit_that_is_no_percentage_is_told_what_is_right(text: str) -> None:
    with pytest.raises(ValueError, match="write a percentage over 0, such as 20%"):
        share_of(text)
