"""Tries the wheel of dist/ in clean roots: installs it without a compiler, runs a load, and upgrades an older version.

Each root is a minimal system made by mmdebstrap, with apt, the distribution's Python and nothing else. Downloads come
before the first time is taken. A root whose Python is too old runs the wheel's programs alone, and so proves its glibc.
"""

import shutil
import sys
from pathlib import Path

from clean_roots import DISTRIBUTIONS, Distribution, Failed, Root, Skipped, clean_root
from dist_wheel import PROJECT, mistakes, older

OLD_RUNS = PROJECT / "tests/runs/format-1"
OLDER_VERSION = "0.0.9"

# Five users, once through the script, with a fifth of the think times that people have.
LOAD = "loadgo run typical-user --users 5 --passes 1 --think 'uniform(0.5s, 3s)' >report"
# qemu's emulation of programs logs nobody in ("Invalid argument"), so that an emulated root loads a simulated machine.
LOAD_OF_EMULATED = "loadgo run typical-user --users 5 --passes 1 --on multics-645 >report"

# Each program has work to do: its own checksum, a product, and a batch host that is missing.
EACH_PROGRAM = """
./loadgo-agent hash
sha256sum <loadgo-agent | cut -d " " -f 1
echo "6 * 7" | ./loadgo-calculator --prompt ""
./loadgo-rjs submit none.deck 2>&1 | grep -c "the batch host?"
"""
AGENT_ALONE = """
./loadgo-agent ready -- true
./loadgo-agent meter --for 100ms --meters none
./loadgo-agent doctor --full
"""


# What the wheel has below share/ is what the installed program prints.
SHARED_FILES = """
cd /opt/loadgo/share
loadgo man /pages
for page in /pages/*; do cmp $page man/man1/${page##*/}; done
loadgo completions bash | cmp - bash-completion/completions/loadgo
loadgo completions zsh | cmp - zsh/site-functions/_loadgo
loadgo completions fish | cmp - fish/vendor_completions.d/loadgo.fish
"""


def try_root(distribution: Distribution, wheel: Path) -> str:
    """How the wheel does in a clean root: its line of the table."""
    with clean_root(distribution) as root:
        root.run("for tool in cc gcc rustc cargo; do ! command -v $tool; done")
        for folder in ("wheels", "older"):
            (root.folder / folder).mkdir()
        shutil.copy(wheel, root.folder / "wheels")
        if root.run("python3 -c 'import sys; print(sys.version_info >= (3, 11))'").strip() == "False":
            return programs_alone(root, wheel)
        root.run(f"python3 -m venv /fetch; /fetch/bin/pip download -q -d /wheels /wheels/{wheel.name}; rm -r /fetch")
        figures = install_and_run(root, wheel)
        upgrade(root, wheel, older(wheel, OLDER_VERSION, root.folder / "older"))
        return f"{figures}; upgraded from {OLDER_VERSION}, which left the reports of {OLD_RUNS.name} as they were"


def install_and_run(root: Root, wheel: Path) -> str:
    """Installs the wheel and runs five users; the times and sizes as a text."""
    environment = root.timed("python3 -m venv /opt/loadgo")
    installed = root.timed(f"pip install -q --no-index /wheels/{wheel.name}")
    # The status 1 says that the finding is bad, as it is where this host is busy.
    loaded = root.timed(f"cd /root; {LOAD_OF_EMULATED if root.emulator else LOAD}", (0, 1))
    report = (root.folder / "root/report").read_text()
    if "compile" not in report:
        raise Failed(f"the report has no line on `compile`:\n{report[-2000:]}")
    charts_without_extra(root)
    root.run(SHARED_FILES)
    start = min((root.timed("loadgo --help") for _ in range(5)), key=lambda spent: spent.processor_seconds)
    fetched = megabytes(root, "/wheels")
    size, own = megabytes(root, "/opt/loadgo"), megabytes(root, "/opt/loadgo/lib/*/*/loadgo /opt/loadgo/bin/loadgo*")
    system = " of a simulated machine" if root.emulator else ""
    return (
        f"venv {environment}, installation {installed}, first report{system} {loaded} later; "
        f"{fetched} MB fetched, {size} MB installed, {own} of them loadgo; `loadgo --help` {start}"
    )


def charts_without_extra(root: Root) -> None:
    """Makes the page of the run, which draws its own charts, and asks for a picture, which needs an extra."""
    root.run("cd /root; loadgo report last --format html -o page.html", (0, 1))
    if "vegaEmbed" not in (root.folder / "root/page.html").read_text():
        raise Failed("the page has no charts")
    refusal = root.run("cd /root; loadgo report last --format svg 2>&1", (2,))
    if "loadgo[charts]" not in refusal:
        raise Failed(f"a picture without the extra was answered with:\n{refusal}")


def megabytes(root: Root, places: str) -> int:
    """The megabytes that files and folders of a root take."""
    return int(root.run(f"du -scm {places} | tail -n 1").split()[0])


def upgrade(root: Root, wheel: Path, old_wheel: Path) -> None:
    """Puts the older version in place, reports the kept runs, upgrades, and reports them again."""
    shutil.copytree(OLD_RUNS, root.folder / "root/format-1")
    root.run(f"pip install -q --no-index --no-deps /older/{old_wheel.name}")
    before = version_and_reports(root)
    root.run("pip install -q --upgrade --no-index loadgo")
    after = version_and_reports(root)
    if (before[0], after[0]) != (OLDER_VERSION, wheel.name.split("-")[1]):
        raise Failed(f"the version was {before[0]} before the upgrade, and is {after[0]}")
    if not all(after[1:]) or before[1:] != after[1:]:
        raise Failed("a run of format 1 has another report after the upgrade, or none")


def version_and_reports(root: Root) -> list[str]:
    """The installed version, and what `loadgo report` prints of each kept run."""
    version = root.run("pip show loadgo 2>&1 | sed -n 's/^Version: //p'").strip()
    runs = sorted(run.name for run in OLD_RUNS.iterdir())
    return [version, *(root.run(f"loadgo report /root/format-1/{run}", (0, 1)) for run in runs)]


def programs_alone(root: Root, wheel: Path) -> str:
    """Runs the wheel's programs in a root whose Python is too old for the package."""
    python = root.run("python3 -V").strip()
    root.run(f"mkdir /programs; cd /programs; python3 -m zipfile -e /wheels/{wheel.name} .; chmod +x */scripts/*")
    answers = root.run(f"cd /programs/*.data/scripts; {EACH_PROGRAM}").split()
    if answers[0] != answers[1] or answers[2:] != ["42", "1"]:
        raise Failed(f"the programs answered {answers}")
    root.run(f"cd /programs/*.data/scripts; {AGENT_ALONE}")
    return (
        f"{python} is too old for loadgo (3.11 or later), so it was not installed; its three programs run, "
        "and the agent says what a command used, where the time goes, and what can be measured"
    )


def main() -> int:
    """Checks the wheel, tries each root, prints a line for each; 1 when one failed."""
    failed = False
    for each in sorted((PROJECT / "dist").glob("*.whl")):
        wrong = mistakes(each)
        failed |= bool(wrong)
        good = f"{each.name}: {each.stat().st_size / 1e6:.1f} MB; files, glibc and checksums are as expected"
        print("\n".join(wrong) or good, flush=True)
    for distribution in DISTRIBUTIONS:
        wheels = [*(PROJECT / "dist").glob(f"*_{distribution.machine}.whl")]
        if not wheels or (sys.argv[1:] and distribution.name not in sys.argv[1:]):
            continue
        try:
            print(f"{distribution.title}: {try_root(distribution, wheels[0])}", flush=True)
        except Skipped as reason:
            print(f"{distribution.title}: skipped: {reason}", flush=True)
        except Failed as reason:
            failed = True
            print(f"{distribution.title}: FAILED: {reason}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
