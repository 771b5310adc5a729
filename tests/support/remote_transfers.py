"""The bytes that users of the script `remote-jobs` move in a pass, by command."""

from __future__ import annotations

TRANSFERS = {
    "submit algebra": ("submit", 3243),
    "print algebra": ("print", 56232),
    "submit equations": ("submit", 7142),
    "print equations": ("print", 896412),
    "store wave": ("store", 473489),
    "submit wave": ("submit", 233),
    "punch wave": ("print", 473440),
}
