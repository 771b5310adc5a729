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
