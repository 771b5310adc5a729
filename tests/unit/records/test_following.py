"""A run that ends while somebody follows it: no row is lost, whenever its streams become tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loadgo import _loadgo
from loadgo.records.following import follow
from support.fleets import append
from support.run_files import written_run
from support.run_lock import lock_held
from support.synthetic import Work, closed_loop

GROWING = _loadgo.Growing
RUN = closed_loop(3, 4, (Work("edit", 0.1),))


class AtTheEnd:
    """`_loadgo.Growing` as somebody gets it who has looked just before the run ended."""

    def __init__(self, folder: Path, name: str) -> None:
        (folder / f"{name}.arrows").unlink()
        RUN.frames()[name].write_parquet(folder / f"{name}.parquet")
        self._stream = GROWING(folder, name)

    def news(self) -> bytes:
        return self._stream.news()


@pytest.mark.parametrize("name", ["interactions", "sessions"])
def test_a_table_whose_stream_goes_between_two_looks_is_read_at_the_end(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written_run(tmp_path / "run", RUN)
    (folder / f"{name}.parquet").unlink()
    append(folder / f"{name}.arrows", RUN.frames()[name])
    run_toml = (folder / "run.toml").read_text()
    (folder / "run.toml").write_text(run_toml.replace("finished = true", "finished = false"))
    followed: Any = follow(folder)
    with lock_held(folder):
        monkeypatch.setattr(_loadgo, "Growing", AtTheEnd)
        assert name not in followed.new_rows()
        monkeypatch.undo()
        (folder / "run.toml").write_text(run_toml)
    assert len(followed.new_rows()[name]) == len(RUN.frames()[name])
    assert followed.ended


def test_rows_that_were_read_of_a_stream_are_not_read_again_at_the_end(tmp_path: Path) -> None:
    folder = written_run(tmp_path / "run", RUN)
    (folder / "interactions.parquet").unlink()
    append(folder / "interactions.arrows", RUN.interactions)
    run_toml = (folder / "run.toml").read_text()
    (folder / "run.toml").write_text(run_toml.replace("finished = true", "finished = false"))
    followed = follow(folder)
    with lock_held(folder):
        assert len(followed.new_rows()["interactions"]) == len(RUN.interactions)
        AtTheEnd(folder, "interactions")
        (folder / "run.toml").write_text(run_toml)
    assert "interactions" not in followed.new_rows()
    assert followed.ended
