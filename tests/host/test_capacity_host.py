"""A trial of a search for the capacity on this host: the users' time is told from that of others."""

from pathlib import Path

import polars as pl
import pytest
from loadgo.records.tables import tables
from loadgo.running.prepared import RunSettings
from loadgo.sizing.models.demands import demands_of
from loadgo.sizing.search.points import point_of
from loadgo.sizing.site import TrialLoad, prepare_site, run_trial
from loadgo.sizing.targets import parse_targets
from support.synthetic import S

COUNTING = """\
name  = "counting"
login = "sh"
think = "fixed(100ms)"
lines = ["i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]
"""


def test_a_trial_on_this_host_charges_a_user_no_more_than_the_user_used(tmp_path: Path) -> None:
    """The users' own time is about that of their interactions, however busy this host is."""
    script = tmp_path / "count.toml"
    script.write_text(COUNTING, encoding="utf-8")
    targets = parse_targets("mean < 30s")
    site = prepare_site(script, "here", RunSettings(), out=tmp_path)
    trial = run_trial(site, targets, TrialLoad(1, 1, 0.5, 4.0), lambda *_: True)
    if trial.processors is None:
        pytest.skip("whose time it was is not told apart here: loadgo doctor says why")
    point = point_of([trial], targets)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    rows = tables(folder).interactions.filter(pl.col("phase").cast(pl.String) == "steady")
    own_s = rows.select((pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).cast(pl.Float64).mean()).item() / S
    assert point.users_cpu_s is not None
    assert point.others is not None
    assert 0 <= point.others < 1
    assert 0.5 * own_s < point.users_cpu_s < 2 * own_s
    (processors,) = demands_of([point], {"processors": site.servers["processors"]})
    assert processors.seconds == pytest.approx(point.users_cpu_s / (1 - processors.background))
