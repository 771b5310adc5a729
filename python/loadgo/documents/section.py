"""The place of a document's section: its id, the reports that show it, and the charts beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Shown = Literal["always", "short", "full"]
"""The reports that show a section: both, only the short one, or only the full one."""


@dataclass(frozen=True, kw_only=True)
class SectionPlace:
    """The place of a section. Every kind of section has these fields."""

    id: str = ""
    """A stable name, for links to the section. If empty, a page makes one of the title."""
    shown: Shown = "always"
    folded: bool = False
    """Whether an HTML page shows only the title until a reader opens the section."""
    charts: tuple[str, ...] = ()
    """Names of the charts that an HTML page shows beside the section."""
    charts_lead: bool = False
    """Whether the charts come before the section's own content, whatever its length."""


def id_of(title: str) -> str:
    """The id that a title gives: its words in lower case, with hyphens between them."""
    return "-".join(re.findall(r"[a-z0-9]+", title.lower().replace("'", "")))
