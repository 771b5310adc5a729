"""A sweep of some seconds, made once: what sweeps that are stopped, killed or distributed must give, too."""

from pathlib import Path

import pytest
from support.command_line import typed
from support.sweeps import LONG_GRID, own_load_grid


@pytest.fixture(scope="session")
def long_sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `LONG_GRID`, and its sweep by one process of this host in `whole`."""
    folder = tmp_path_factory.mktemp("long-sweep")
    own_load_grid(folder, LONG_GRID)
    typed(folder, "sweep", "grid.toml", "--workers", "1", "--out", "whole")
    return folder
