"""Files with printed figures of a user's own, as small as they may be and as full."""

from pathlib import Path

SMALLEST = """\
[sides.before]
interactions = 4420
cpu_s        = 14213
"""
"""As little as a comparison needs."""

WHOLE = """\
title = "The old host, 3 May"
[sides.before]
interactions = 4420
cpu_s        = 14213
elapsed_s    = 14982
processors   = 1
[sides.before.time]
user             = 53.33
"page fault"     = 20.35
"context switch" = 23.13
idle             = 3.19
"idle zero"      = 2.04
"idle page wait" = 1.15
[sides.before.counts]
"page fault" = 919_474
[sides.before.charges]
"shift 1" = 1995.07
"""
"""A total time table with its own idle total, and counts."""

AFTER = """\
title = "The new host, 10 May"
[sides.after]
interactions = 4420
cpu_s        = 4860
elapsed_s    = 5484
processors   = 1
[sides.after.time]
user             = 71.47
"page fault"     = 14.40
getwork          = 4.33
"idle zero"      = 9.64
"idle page wait" = 0.16
[sides.after.counts]
"page fault" = 339_883
[sides.after.charges]
"shift 1" = 685.66
"""
"""The same of another system."""


def written(folder: Path, text: str, name: str = "before.toml") -> Path:
    """A file with this text in `folder`."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
