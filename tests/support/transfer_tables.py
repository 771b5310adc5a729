"""Tables of transfers: the published one, and made-up ones with known costs."""

from __future__ import annotations

import numpy as np
from loadgo.transfers.csv_table import Observed
from loadgo.transfers.prices import Prices

from support.places import PROJECT

PRICES = Prices("$", 3600.0, 2.0, "a dollar a second of processor time, two a gigabyte on the network")


def made(loads: dict[float, float], receives: float = 1.3, noise: float = 0.02) -> list[Observed]:
    """A grid of transfers at each load.

    `loads` gives the factor of the real time at each, `receives` that of receiving.
    """
    random = np.random.default_rng(392)
    rows = []
    for load, stretch in loads.items():
        for size in (4096, 65536, 1 << 20):
            for message in (512, 4096, 65536):
                for way, times in (("s", 1.0), ("r", receives)):
                    cpu_s = times * (1e-4 + 1e-9 * size + 2e-6 * size / message)
                    cpu_s *= float(np.exp(noise * random.standard_normal()))
                    rows.append(
                        Observed(
                            "",
                            way,
                            "blocks",
                            size,
                            cpu_s,
                            real_s=1.5 * stretch * cpu_s,
                            messages=-(-size // message),
                            load=load,
                            message=message,
                        )
                    )
    return rows


SEED = PROJECT / "python" / "loadgo" / "data" / "published" / "rfc392_tables.csv"


COLUMNS = {"real_s": "clk_s", "direction": "dir", "load": "load5"}
