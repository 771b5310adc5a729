"""News which line comes next: passed on to the host of the user, and to no other; nobody waits for room."""

import os

from loadgo.hosts.next_lines import NEWS_BYTES, NextLinesPipe, pass_on


def news(*pieces: tuple[int, int]) -> bytes:
    return b"".join(user.to_bytes(4, "big") + line.to_bytes(4, "big") for user, line in pieces)


def test_news_go_to_the_host_of_their_user() -> None:
    first, second = NextLinesPipe(), NextLinesPipe()
    pipes = [(2, first.writing), (3, None), (5, second.writing)]
    pass_on(news((1, 7), (3, 8), (4, 9), (6, 1)) + b"rest", range(1, 7), pipes)
    assert os.read(first.reading, 99) == news((1, 7))
    assert os.read(second.reading, 99) == news((4, 9))
    first.close()
    second.close()


def test_a_driver_tells_of_no_user_of_another_driver() -> None:
    pipe = NextLinesPipe()
    pass_on(news((1, 7), (2, 8)), range(2, 3), [(9, pipe.writing)])
    assert os.read(pipe.reading, 99) == news((2, 8))
    pipe.close()


def test_news_that_nobody_takes_are_dropped() -> None:
    pipe = NextLinesPipe()
    pieces = 1 << 17
    pass_on(news((1, 1)) * pieces, range(1, 2), [(9, pipe.writing)])
    assert 0 < len(os.read(pipe.reading, NEWS_BYTES * pieces)) < NEWS_BYTES * pieces
    pipe.close()
