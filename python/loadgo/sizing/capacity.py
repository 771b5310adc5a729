"""The public call that finds how many users a system holds; it makes short trials first, long ones near the answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from loadgo.running.host import USUAL, Driver
from loadgo.running.prepared import Settings
from loadgo.sizing.results import Capacity, Progress


def capacity(
    script: str | Path | None = None,
    *,
    target: str | Sequence[str],
    on: str = "here",
    max_users: int | None = None,
    mix: str | None = None,
    within: int | None = None,
    think: str | None = None,
    typing: float | str | None = None,
    set: Sequence[str] = (),
    limit: str | None = None,
    meters: str | None = None,
    driver: Driver = USUAL,
    shortest: float | str | None = None,
    longest: float | str | None = None,
    trials: int | None = None,
    seed: int = 1,
    tariff: str = "default",
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Capacity:
    """How many users who type `script` the system `on` holds, so that every `target` is met.

    A target is `p90 < 2s`, `mean(edit) < 500ms`, `errors < 1%`, `busy(processors) < 80%`, `throughput > 3/s`. No more
    than `max_users` are ever logged in: 10,000 by default on a simulated machine; on this host, which others may be
    using, 8 when nobody says more. The search goes on until the ends of the answer's interval differ by no more users
    than `within` (2 % by default, and at least 1), or `trials` are made (60; 24 on this host), each between `shortest`
    and `longest` (30 s and 5 min on this host) of the system's own time. `mix`, such as
    `heavy.toml=1,ordinary.toml=3`, in place of `script` has users of several classes. The folders of trials are kept in
    `out`; on this host, by default, where runs are kept. The other arguments are those of `loadgo.run`.

    Raises `ValueError` for what makes no sense, `errors.Mistake` for a script with a mistake, and what `loadgo.run`
    raises. An interrupt ends the search, with what is known by then.
    """
    from loadgo.sizing.whole_search import Options, made

    if not 0 <= seed < 2**62:
        raise ValueError(f"seed {seed} is out of range: it lies between 0 and 2^62 - 1")
    return made(
        script,
        on,
        Options(
            target=target,
            max_users=max_users,
            mix=mix,
            within=within,
            shortest=shortest,
            longest=longest,
            trials=trials,
            seed=seed,
            tariff=tariff,
            out=None if out is None else Path(out),
        ),
        Settings(think, typing, tuple(set), limit, None, meters, driver),
        progress,
    )
