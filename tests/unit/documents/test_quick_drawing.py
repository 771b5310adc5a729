"""Drawing without Altair's checks: inside nothing is checked, and outside everything is as before, whatever happens."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import altair as alt
import pytest
from altair.utils import schemapi
from loadgo.documents.quick_drawing import quick_drawing


def bad_axis() -> alt.Axis:
    """An axis that Vega-Lite does not allow."""
    return alt.Axis(tickCount="many")


def checks() -> bool:
    """Whether Altair refuses what is wrong."""
    try:
        bad_axis()
    except schemapi.SchemaValidationError:
        return True
    return False


def test_altair_checks_nothing_within_and_everything_after() -> None:
    assert checks()
    with quick_drawing():
        assert not checks()
        with quick_drawing():
            assert not checks()
        assert not checks()
    assert checks()


def test_altair_checks_again_after_an_error() -> None:
    @quick_drawing()
    def fails() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert checks()


def test_who_switched_the_checks_off_finds_them_off() -> None:
    with schemapi.debug_mode(False):
        with quick_drawing():
            pass
        assert not checks()
    assert checks()


def test_the_last_of_several_threads_sets_the_checks_back() -> None:
    both_within = Barrier(2)
    first_is_out = Barrier(2)

    def draws(first: bool) -> bool:
        with quick_drawing():
            both_within.wait()
            if not first:
                first_is_out.wait()
                return checks()
        first_is_out.wait()
        return False

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(draws, (True, False))) == [False, False]
    assert checks()
