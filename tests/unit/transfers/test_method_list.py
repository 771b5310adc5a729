"""The list of the methods of transfers, as text."""

from loadgo.transfers.method_list import method_presentation

REASON = "this kernel has no TLS of its own; remedy: modprobe tls, or a kernel with CONFIG_TLS"


def test_the_reason_why_a_method_is_not_here_is_wrapped() -> None:
    shown = str(method_presentation({"bytes": 1, "ktls": 2**20}, {"ktls": REASON}).report("text", width=80))
    first, second, *rest = shown.splitlines()
    assert first.split() == ["bytes", "1", "byte", "a", "call"]
    assert second.split() == ["ktls", "1,048,576", "bytes", "a", "call"]
    assert " ".join(" ".join(rest).split()) == f"not here: {REASON}"
    assert max(map(len, shown.splitlines())) <= 80
