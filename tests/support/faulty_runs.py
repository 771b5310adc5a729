"""Runs that get a fault at a drawn moment: each is made for real, watched, and judged (`fault_verdicts.py`)."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from support.drawn_faults import Plan, plan_of
from support.fault_deeds import DEEDS, Scene, clear, make_good, prepare
from support.fault_verdicts import Ending, faults_of
from support.kernel_programs import held_by
from support.outside import PATIENCE_S, Bench

PATIENCE_OF_SERIES_S = float(os.environ.get("LOADGO_RANDOM_FAULTS_PATIENCE_S", PATIENCE_S))
"""Time limit of one run."""
LOOK_EVERY_S = 0.002
"""Pause between two looks at how far a run has come: the conversion takes some hundredths of a second."""
SAMPLE_EVERY_S = 0.02
"""Pause between two looks at how much the users have done."""


@dataclass(frozen=True)
class Outcome:
    """The end of one run, judged."""

    plan: Plan
    deed: str
    """Words for what the fault did; empty if the run ended before it came."""
    status: int
    faults: tuple[str, ...]
    """Everything bad about the run's end and about what it left; none is as it must be."""

    def __str__(self) -> str:
        return f"{self.plan}\n  {self.deed or 'it ended before the fault'}; status {self.status}"


@dataclass
class Account:
    """How many lines the users had done at each moment: they write that themselves, beside loadgo's records."""

    path: Path
    sizes: list[tuple[float, int]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def watch(self) -> None:
        """Looks at the account until the run is over."""
        while not self.over.wait(SAMPLE_EVERY_S):
            with suppress(FileNotFoundError):
                self.sizes.append((time.monotonic(), self.path.stat().st_size))

    def lines(self, until: float) -> list[int]:
        """The user of each line that was done by this moment."""
        size = max((size for moment, size in self.sizes if moment <= until), default=0)
        return [int(word) for word in self.path.read_bytes()[:size].split()] if size else []


def outcome_of(seed: int, folder: Path) -> Outcome:
    """Makes the run of this seed in an empty folder, and judges it. What the fault made is undone in any case."""
    plan = plan_of(seed)
    scene = Scene(Bench(folder), plan, plan.draws())
    try:
        words = prepare(scene)
        ending = _made(scene, words)
        make_good(scene)
        faults = faults_of(scene, ending)
    finally:
        clear(scene)
    return Outcome(plan, scene.done, ending.status, tuple(faults))


def _made(scene: Scene, before: tuple[str, ...]) -> Ending:
    """The run from its start to its end, with the fault on the way."""
    bench, plan = scene.bench, scene.plan
    account = Account(bench.folder / "account")
    lines = f'["echo $LOADGO_USER >>{account.path}", "ls / >/dev/null"]'
    bench.script(f'think = "fixed({plan.think_ms}ms)"\npasses = 1000000\nlines = {lines}\n')
    asked = ("--users", str(plan.users), "--for", f"{plan.duration_ms}ms", *plan.options)
    # A cut or damaged file of this run is none in the compiled modules of later tests.
    before = (*before, "env", "PYTHONDONTWRITEBYTECODE=1")
    running = bench.start("run", "asked.toml", *asked, "--out", "disk/run", before=before)
    scene.running = running
    printed: list[str] = []
    threads = [threading.Thread(target=account.watch), threading.Thread(target=lambda: printed.extend(_read(running)))]
    for thread in threads:
        thread.start()
    try:
        programs, came = _do_fault(scene)
        hangs = _wait(running)
    finally:
        account.over.set()
        if running.poll() is None:
            running.kill()
        for thread in threads:
            thread.join()
    return Ending(running.returncode, *printed, hangs, frozenset(programs), account.lines, came)


def _read(running: subprocess.Popen[str]) -> tuple[str, str]:
    """The output and the errors of a run, read while it goes. Pipes, since a limit of files is none of theirs."""
    return running.communicate()


def _do_fault(scene: Scene) -> tuple[set[int], float]:
    """Waits for the drawn moment and does the fault. Returns the kernel programs held then, and the moment."""
    programs: set[int] = set()
    if scene.plan.kind in DEEDS and _has_come(scene) and _goes_on(scene):
        programs = held_by(scene.pid)
        scene.done = DEEDS[scene.plan.kind](scene)
    return programs, time.monotonic()


def _goes_on(scene: Scene) -> bool:
    assert scene.running is not None
    return scene.running.poll() is None


def _has_come(scene: Scene) -> bool:
    """Waits for the drawn moment. False if the run ends before."""
    seen = {
        "start": lambda: True,
        "run": lambda: (scene.run / "phases.arrows").exists(),
        "conversion": lambda: any(scene.run.glob("*.parquet*")),
        "report": lambda: _is_finished(scene.run / "run.toml"),
    }[scene.plan.stage]
    while not seen():
        if not _goes_on(scene):
            return False
        time.sleep(LOOK_EVERY_S)
    assert scene.running is not None
    with suppress(subprocess.TimeoutExpired):
        scene.running.wait(scene.plan.delay_s)
        return False
    return True


def _is_finished(run_toml: Path) -> bool:
    try:
        return "finished = true" in run_toml.read_text()
    except OSError:
        return False


def _wait(running: subprocess.Popen[str]) -> str:
    """Waits for the end. Returns where the threads are if it does not come."""
    try:
        running.wait(PATIENCE_OF_SERIES_S)
    except subprocess.TimeoutExpired:
        return "; ".join(_whereabouts(task) for task in Path(f"/proc/{running.pid}/task").iterdir())
    return ""


def _whereabouts(task: Path) -> str:
    texts = []
    for name in ("comm", "wchan", "syscall"):
        with suppress(OSError):
            texts.append((task / name).read_text().strip())
    return " ".join(texts)
