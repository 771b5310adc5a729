"""The JSON keys of differences that are taken apart, type by type: `key`, or `key=field`."""

from __future__ import annotations

from loadgo.decomposition.chains import Chain, Factor
from loadgo.decomposition.parts import OutputLine, Part
from loadgo.decomposition.roads import Road
from loadgo.decomposition.waterfall import Step, Waterfall

JSON_KEYS: dict[type, str] = {
    Part: "name busy before after interval count_before count_after change by_count by_each",
    OutputLine: "name unit before after",
    Chain: "measure unit before after ratio interval b_over_a b_over_a_interval links factors",
    Factor: "name of factor interval b_over_a b_over_a_interval log said",
    Road: "name to before after unit interval apart ratio b_over_a b_over_a_interval",
    Waterfall: "measure unit before after ratio interval b_over_a b_over_a_interval kind steps",
    Step: "name factor interval b_over_a b_over_a_interval start end",
}
