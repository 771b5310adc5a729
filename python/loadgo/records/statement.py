"""Checks of an SQL text before Polars gets it: what it may read and change, and how deep its expressions may be."""

from __future__ import annotations

import re
from itertools import pairwise

from loadgo.errors import BadQuery

MOST_CHAINED_WORDS = 1000
"""Largest number of words and signs without a comma between. Polars ends the process at about twice as many."""
MOST_COMBINED_TABLES = 200
"""Largest number of JOIN, UNION, INTERSECT and EXCEPT, for the same reason."""

_COMBINING_WORDS = ("join", "union", "intersect", "except")
_SEPARATOR_OR_QUOTED = re.compile(
    r"""(?P<separator>\s+ | --[^\n]* | /\*.*?\*/ | \() | '(?:[^']|'')*' | "[^"]*" """, re.VERBOSE | re.DOTALL
)
_WRITING_STATEMENTS = ("alter", "copy", "create", "delete", "drop", "insert", "merge", "replace", "truncate", "update")
_FILE_FUNCTION = re.compile(
    r"(?:read|scan)_(?:csv|json|ndjson|ipc|parquet|avro|delta|excel|iceberg|lines|database)", re.I
)
_SPACE_OR_TOKEN = re.compile(
    r"""\s+ | --[^\n]* | /\*.*?\*/ | (?P<token> '(?:[^']|'')*' | "[^"]*" | \w+ | .)""", re.VERBOSE | re.DOTALL
)


def check_statement(sql: str, *, allow_files: bool) -> None:
    """Raises `BadQuery` for a text that would change tables, have no end, read other files, or exhaust the stack."""
    bare = _SEPARATOR_OR_QUOTED.sub(lambda match: " " if match["separator"] else "''", sql).lower()
    words = re.findall(r"[^\s;,)]+", bare)
    if words and words[0] in _WRITING_STATEMENTS:
        raise BadQuery(f"{words[0].upper()} is no question: write SELECT …; a query changes nothing in a run")
    if ("with", "recursive") in pairwise(words):
        raise BadQuery("WITH RECURSIVE is not possible here: it would not end; compute the series where it is used")
    # The name counts wherever it stands: Polars may see the end of a quoted text or of a comment elsewhere.
    if not allow_files and (function := _FILE_FUNCTION.search(sql)):
        name = function[0].lower()
        raise BadQuery(f"{name} reads other files than the run's tables: allow it with `allow_files`").about(
            "allow_files"
        )
    _check_depth([match["token"].lower() for match in _SPACE_OR_TOKEN.finditer(sql) if match["token"]])


def _check_depth(tokens: list[str]) -> None:
    """Raises `BadQuery` for a text whose tree may be deeper than the stack: the tree has a level for each operator."""
    if sum(token in _COMBINING_WORDS for token in tokens) > MOST_COMBINED_TABLES:
        most = f"more than {MOST_COMBINED_TABLES} tables"
        raise BadQuery(f"the query combines {most} by JOIN, UNION, INTERSECT or EXCEPT: ask for parts of it")
    if _longest_chain(tokens) > MOST_CHAINED_WORDS:
        most = f"more than {MOST_CHAINED_WORDS:,} words and signs"
        raise BadQuery(f"the query has an expression of {most}: ask for parts, or write x IN (1, 2) for x = 1 OR x = 2")


def _longest_chain(tokens: list[str]) -> int:
    """The largest number of words and signs since the last comma, with those around each open bracket."""
    lengths, longest = [0], 0
    for token in tokens:
        if token == ",":
            lengths[-1] = 0
            continue
        if token in ")]" and len(lengths) > 1:
            lengths.pop()
        lengths[-1] += 1
        longest = max(longest, sum(lengths))
        if token in "([":
            lengths.append(0)
    return longest
