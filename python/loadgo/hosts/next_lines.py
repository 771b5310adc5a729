"""News for an agent: which line each user of its host types next.

The driver writes them into a pipe at the user's prompt, so that they travel while the user thinks.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress

NEWS_BYTES = 8
"""Bytes of one piece of news: `crates/host/src/terminals/next_lines.rs`."""
_USER_BYTES = 4


class NextLinesPipe:
    """A pipe for news. Whoever writes into it never waits."""

    def __init__(self) -> None:
        """Opens the pipe."""
        self.reading, self.writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.writing, False)

    def close(self) -> None:
        """Closes both ends."""
        for end in (self.reading, self.writing):
            os.close(end)


def pass_on(news: bytes, users: range, pipes: Sequence[tuple[int, int | None]]) -> None:
    """Writes news from the driver of `users` into the pipes of their hosts.

    `pipes` has the last user of each host, and the pipe's descriptor. News about other users are left out.
    """
    last_users = [last for last, _ in pipes]
    for user, piece in _pieces(news):
        host = bisect_left(last_users, user)
        pipe = pipes[host][1] if user in users and host < len(pipes) else None
        if pipe is not None:
            with suppress(BlockingIOError):  # then nobody takes the news of that host any more
                os.write(pipe, piece)


def _pieces(news: bytes) -> Iterator[tuple[int, bytes]]:
    """Each whole piece of news, with its user."""
    for place in range(0, len(news) - NEWS_BYTES + 1, NEWS_BYTES):
        piece = news[place : place + NEWS_BYTES]
        yield int.from_bytes(piece[:_USER_BYTES], "big"), piece
