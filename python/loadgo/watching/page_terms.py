"""The page's terms and colours as a JavaScript module, from the tables that the reports use."""

from __future__ import annotations

import json

from loadgo.documents.palette import STATE_COLORS, category_colors
from loadgo.measures.other_work import BUSY_SHARE, KEPT_LIMIT_SHARE, NOTED_SHARE
from loadgo.measures.total_time import HELD_UP_CATEGORIES, KERNEL_CATEGORIES, OWNER_GROUPS, TICK_CATEGORIES, TICK_NS
from loadgo.notation.terms import CATEGORY_TERMS
from loadgo.records.host_places import WIDEST_BOUND_NS
from loadgo.watching.hosts import SILENT_NS
from loadgo.watching.window import SERVED_STATES_COUNT

TERMS_FILE = "terms.js"
"""The name under which the page imports the module."""


def terms_module() -> bytes:
    """The module: the states of a user; the term, the sentence and the colour of each category, busy ones first.

    It has the limits of other work on a host, too, and the categories and owners that are no other work. It has the
    limits from which a host is late, and its clock is known badly. A last list is of the idle time that somebody could
    have used.
    """
    categories = {
        stored: {"name": CATEGORY_TERMS[stored].name, "meaning": CATEGORY_TERMS[stored].sentence, "colour": color}
        for stored, color in category_colors(CATEGORY_TERMS).items()
    }
    constants = {
        "STATES": list(STATE_COLORS),
        "COLOURS": list(STATE_COLORS.values()),
        "WAITS": SERVED_STATES_COUNT,
        "CATEGORIES": categories,
        "HELD_UP": HELD_UP_CATEGORIES,
        "OWNERS": OWNER_GROUPS,
        "HOST_LIMITS": {"silent_ns": SILENT_NS, "widest_bound_ns": WIDEST_BOUND_NS},
        "OTHER_WORK": {
            "busy": BUSY_SHARE,
            "noted": NOTED_SHARE,
            "kept": KEPT_LIMIT_SHARE,
            "kernel": KERNEL_CATEGORIES,
            "ticked": sorted(TICK_CATEGORIES),
            "tick_ns": TICK_NS,
        },
    }
    lines = [f"export const {name} = {json.dumps(value)};" for name, value in constants.items()]
    return "\n".join(["// Terms and colours; made from loadgo's own tables.", *lines, ""]).encode()
