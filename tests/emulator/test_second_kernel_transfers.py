"""A transfer by every method on a kernel that is not this host's, with the kernel's own TLS, which hosts often lack."""

from __future__ import annotations

import pytest
from loadgo.transfers.transfer import methods
from support import second_kernel
from support.second_kernel import MachineOutput

SIZE, SINGLE_BYTES = 300_001, 20_001
"""Bytes of a transfer, and of one whose every byte is a call of its own."""
WAYS = ["Send", "Receive"]


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> MachineOutput:
    """The machine's output. A missing emulator is a failure where it should be installed."""
    second_kernel.skip_if(second_kernel.missing() or second_kernel.missing_modules(), "transfers")
    return second_kernel.transfer_output(tmp_path_factory.mktemp("second-kernel"))


def of(output: MachineOutput, method: str, way: str) -> list[str]:
    """The output of both ends of a transfer, with the comparison of sent and received data."""
    (words,) = [line[2:] for line in output.lines if line[:2] == [method, way]]
    return words


def test_without_the_module_the_kernels_own_tls_is_refused_with_the_remedy(output: MachineOutput) -> None:
    (said,) = [line[1] for line in output.lines if line[0] == "without"]
    assert "modprobe tls" in said


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", list(methods()))
def test_each_method_brings_every_byte_over(output: MachineOutput, method: str, way: str) -> None:
    here, there, same = of(output, method, way)
    size = SINGLE_BYTES if method == "bytes" else SIZE
    assert here.startswith(f"{size} bytes, ")
    assert there.startswith(f"{size} bytes, ")
    assert same == "the same"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", ["blocks", "ktls"])
def test_the_interrupt_work_of_each_end_is_told_there_too(output: MachineOutput, method: str, way: str) -> None:
    here, there, _ = of(output, method, way)
    assert "Ticks" not in here + there
