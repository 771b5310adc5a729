"""The characters that stand for the states of a user in a terminal."""

STATE_SIGNS = {
    "running": "█",
    "CPU wait": "▒",
    "page wait": "P",
    "disk wait": "D",
    "other wait": "w",
    "typing": "t",
    "thinking": "·",
    "not known yet": "?",
}
"""The character of each state. Their shapes differ, so no colour is needed."""

SHORT_STATE_NAMES = {"not known yet": "not known"}
"""Shorter names of states before a row."""


def legend(width: int) -> str:
    """The sign of each state; the waits stand together. What a blank says is left out where it has no room."""
    waits = [state for state in STATE_SIGNS if state.endswith(" wait")]
    others = [state for state in STATE_SIGNS if state not in ("running", *waits)]
    running, waiting, rest = (" ".join(map(_signed, states)) for states in (["running"], waits, others))
    signs = f"{running}; waits: {waiting}; {rest}"
    return signs + _BLANK if len(signs + _BLANK) <= width else signs


_BLANK = "; blank: not logged in"


def _signed(state: str) -> str:
    return f"{STATE_SIGNS[state]} {SHORT_STATE_NAMES.get(state, state.removesuffix(' wait'))}"
