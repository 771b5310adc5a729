"""Chooses the sessions of a log by their people, who have names in some logs and numbers in others."""

from __future__ import annotations

import pwd
from collections.abc import Iterator, Sequence

from loadgo.errors import BadArgument
from loadgo.observation.logs.log_read import LoggedSession, LogRead


def chosen_sessions(
    logs: Sequence[LogRead], users: Sequence[str | int], without_users: Sequence[str | int]
) -> Iterator[LoggedSession]:
    """The sessions of the people in `users`, or of all if it is empty, but of none in `without_users`."""
    nameless = next((log.kind for log in logs if not log.has_people), None)
    if nameless and (users or without_users):
        raise BadArgument("a history has no names of users: name the histories of the people you want").about("users")
    wanted, unwanted = (frozenset(_names(listed)) for listed in (users, without_users))
    for log in logs:
        for session in log.sessions:
            if (not wanted or session.person in wanted) and session.person not in unwanted:
                yield session


def _names(users: Sequence[str | int]) -> Iterator[str]:
    """Each name, and the number of the account with this name on this host; and the other way round."""
    for user in users:
        yield str(user)
        try:
            is_number = isinstance(user, int) or user.isdecimal()
            account = pwd.getpwuid(int(user)) if is_number else pwd.getpwnam(str(user))
        except (KeyError, ValueError, OverflowError):
            continue
        yield from (account.pw_name, str(account.pw_uid))
