"""Programs that scripts need, with what installs each: the remedy in messages about missing programs."""

from collections.abc import Sequence

_CORE_PROGRAMS = (
    *("base64", "csplit", "cut", "date", "dd", "df", "factor", "head", "nproc", "numfmt", "pr", "seq", "sha256sum"),
    *("shuf", "sort", "tail", "timeout", "tsort", "wc", "yes"),
)
"""Programs of the package `coreutils`."""
_DEBIAN_PACKAGES = {
    "awk": "mawk",
    "cc": "gcc libc6-dev",
    "cmp": "diffutils",
    "diff": "diffutils",
    "find": "findutils",
    "gdb": "gdb",
    "grep": "grep",
    "gzip": "gzip",
    "less": "less",
    "make": "make",
    "more": "util-linux",
    "python3": "python3",
    "sed": "sed",
    "tar": "tar",
    "vim": "vim",
    "xargs": "findutils",
    **dict.fromkeys(_CORE_PROGRAMS, "coreutils"),
}
"""Packages of Debian and Ubuntu, by the programs in them that bundled scripts need."""
_PYTHON_PACKAGES = {"ipython": "ipython numpy", "jupyter-console": "jupyter-console ipykernel numpy"}
"""Packages that pip installs, with what the cells of the bundled scripts import."""


def remedy_for(programs: Sequence[str], *, elsewhere: bool = False) -> str:
    """The commands that install these missing programs, here or `elsewhere`, as the end of a message."""
    commands = [
        f"{command} {' '.join(dict.fromkeys(packages))}"
        for command, known in (("apt install", _DEBIAN_PACKAGES), ("pip install", _PYTHON_PACKAGES))
        if (packages := [word for program in programs for word in known.get(program, "").split()])
    ]
    how = f" ({'; '.join(commands)})" if commands else ""
    there = " there" if elsewhere else ""
    return f"install {'it' if len(programs) == 1 else 'them'}{there}{how}, or use another script"
