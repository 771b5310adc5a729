"""The run folder as Apache's own reader sees it: other engines need nothing of loadgo."""

import pytest
from loadgo.records.tables import tables
from support.places import TESTS

KEPT = TESTS / "runs" / "format-1"
ENDED, CUT = KEPT / "2026-11-21T01-37-05-ended", KEPT / "2026-11-21T01-37-05-cut"

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: whether it reads run folders is not tested here")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize("table", sorted({path.stem for path in CUT.glob("*.arrows")} - {"lost"}))
def test_pyarrow_reads_the_same_from_parquet_and_from_a_stream_without_its_end(table: str) -> None:
    streamed = pa.ipc.open_stream(CUT / f"{table}.arrows").read_all()
    stored = parquet.read_table(ENDED / f"{table}.parquet")
    assert streamed.equals(stored)
    frame = tables(ENDED).frames()[table]
    assert stored.to_pydict() == frame.select(stored.column_names).to_dict(as_series=False)
    later = frame.drop(stored.column_names)
    assert all(later[name].null_count() == len(later) for name in later.columns), "what came later is not measured"
