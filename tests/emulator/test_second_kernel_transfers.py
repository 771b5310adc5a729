"""A transfer by every method on a kernel that is not this host's, with the kernel's own TLS, which hosts often lack."""

from __future__ import annotations

import os
import shutil

import pytest
from loadgo.transfers.transfer import methods
from support import second_kernel
from support.second_kernel import Told

SIZE = 300_001
WAYS = ["Send", "Receive"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    """All that the machine said; where it should be there and is not, that is a failure."""
    missing = second_kernel.missing() or second_kernel.missing_modules()
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        pytest.fail(missing)
    if missing:
        pytest.skip(f"transfers were not tried on a second kernel: {missing}")
    return second_kernel.transferred(tmp_path_factory.mktemp("second-kernel"))


def of(told: Told, method: str, way: str) -> list[str]:
    """The output of both ends of a transfer, with the comparison of sent and received data."""
    (words,) = [line[2:] for line in told.lines if line[:2] == [method, way]]
    return words


def test_without_the_module_the_kernels_own_tls_is_refused_with_the_remedy(told: Told) -> None:
    (said,) = [line[1] for line in told.lines if line[0] == "without"]
    assert "modprobe tls" in said


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", list(methods()))
def test_each_method_brings_every_byte_over(told: Told, method: str, way: str) -> None:
    here, there, same = of(told, method, way)
    assert here.startswith(f"{SIZE} bytes, ")
    assert there.startswith(f"{SIZE} bytes, ")
    assert same == "the same"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["blocks", "ktls"])
def test_the_interrupt_work_of_each_end_is_told_there_too(told: Told, method: str, way: str) -> None:
    here, there, _ = of(told, method, way)
    assert "Ticks" not in here + there
