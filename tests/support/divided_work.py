"""The work of users who are divided among hosts or drivers: each line shows in a file on the host who has typed it."""

from __future__ import annotations

SCRIPT = """
name  = "far work"
think = "uniform(0.1s, 0.4s)"
typing = "200 chars/s"
needs = ["cat"]

[words]
animals = ["cat", "horse", "elephant", "hippopotamus"]

[[lines]]
type = 'echo {random:animals} {user} {pass} >>"$HOME/typed-{user}"'
as = "note"

[[lines]]
type = 'cat /dev/null'
"""
USERS = 10
PASSES = 3
