"""The faults themselves: each is done to one run, which goes on in a place of its own, and undone afterwards."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from support.drawn_faults import ENDING_SIGNALS, Plan
from support.outside import Bench, processes_of

TREES = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup/memory"))
"""Where a controller may be: in the unified tree, or in a tree of its own."""
KILOBYTE, MEGABYTE = 1 << 10, 1 << 20


@dataclass
class Scene:
    """One run with what the fault needs to know of it, and what the fault has done."""

    bench: Bench
    plan: Plan
    draws: random.Random
    running: subprocess.Popen[str] | None = None
    sent: set[int] = field(default_factory=set)
    """The signals by which the process may have ended, since this fault sent them."""
    group: Path | None = None
    """The control group that holds the run's process, where the fault needs one."""
    done: str = ""
    """Words for what the fault did; empty as long as it has not come."""

    @property
    def disk(self) -> Path:
        """The disk of the run's folder."""
        return self.bench.folder / "disk"

    @property
    def run(self) -> Path:
        """The run's folder."""
        return self.disk / "run"

    @property
    def pid(self) -> int:
        """The run's process."""
        assert self.running is not None
        return self.running.pid

    def send(self, number: int) -> None:
        """Sends a signal to the run's process alone."""
        self.sent.add(number)
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


# What is prepared before the run starts.


def prepare(scene: Scene) -> tuple[str, ...]:
    """Mounts the disks and makes the group that the fault needs. Returns words before the command."""
    kind, draws = scene.plan.kind, scene.draws
    scene.disk.mkdir()
    scene.bench.homes.mkdir()
    if kind == "small disk of the run":
        size_kb = draws.randrange(4, 400, 4)
        scene.done = f"the disk has {size_kb} kB"
        _mount(scene.disk, f"{size_kb}k")
    elif "disk of the run" in kind or kind == "unmounted run folder":
        _mount(scene.disk, "4m")
    elif "disk of the homes" in kind or kind == "unmounted homes":
        _mount(scene.bench.homes, "1m")
    if "processes" in kind or "memory" in kind:
        return _limits_before(scene)
    if kind == "few descriptors at the start":
        return _limit_before(scene, "nofile", draws.randint(14, 140))
    if kind == "short files at the start":
        return _limit_before(scene, "fsize", draws.choice((0, draws.randrange(2000), draws.randrange(200_000))))
    return ()


def _mount(folder: Path, size: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], check=True)


def _limit_before(scene: Scene, name: str, most: int) -> tuple[str, ...]:
    scene.done = f"{name} is {most}"
    return ("prlimit", f"--{name}={most}:{most}")


def _limits_before(scene: Scene) -> tuple[str, ...]:
    """The words for a run in a group of its own, which is limited at once or later; or with little address space."""
    is_of_processes = "processes" in scene.plan.kind
    at_once = scene.plan.kind.endswith("at the start")
    if not is_of_processes and scene.draws.random() < 0.5:
        most = scene.draws.randrange(150 * MEGABYTE, 1800 * MEGABYTE)
        return _limit_before(scene, "as", most) if at_once else ()
    scene.group = _group("pids" if is_of_processes else "memory")
    if scene.group is None:
        return ()
    if at_once and is_of_processes:
        _limit_group(scene, "pids.max", scene.draws.randint(2, 80))
    elif at_once:
        _limit_group(scene, _memory_file(scene.group), scene.draws.randrange(20 * MEGABYTE, 160 * MEGABYTE))
    return ("sh", "-c", f'echo $$ >{scene.group}/cgroup.procs && exec "$@"', "sh")


def _group(controller: str) -> Path | None:
    """A control group of this process's own that can limit by this controller, if any can."""
    for tree in TREES:
        delegated = tree / "cgroup.subtree_control"
        able = controller in delegated.read_text().split() if delegated.exists() else tree.name == controller
        if able and tree.is_dir():
            group = tree / f"loadgo-test-fault-{os.getpid()}-{time.monotonic_ns():x}"
            group.mkdir()
            return group
    return None


def _memory_file(group: Path) -> str:
    return "memory.max" if (group / "memory.max").exists() else "memory.limit_in_bytes"


def _limit_group(scene: Scene, file: str, most: int) -> None:
    assert scene.group is not None
    with suppress(OSError):  # there may be more in use already than the kernel can take back
        (scene.group / file).write_text(f"{most}\n")
    scene.done = f"{file} is {most}"
    if file.startswith("memory"):
        scene.sent.add(signal.SIGKILL)  # the kernel's, for want of memory


# What comes at the drawn moment.


def fill(disk: Path) -> None:
    """Takes all the room that is left on a small disk."""
    with suppress(OSError), (disk / "ballast").open("wb", buffering=0) as out:
        while True:
            out.write(bytes(4096))


def fill_disk(scene: Scene) -> str:
    """Fills the disk of the run, or that of the homes."""
    disk = scene.disk if "run" in scene.plan.kind else scene.bench.homes
    fill(disk)
    return f"{disk.name} is full"


def _target(scene: Scene) -> Path:
    """The folder that the fault is about. Before there is a run's folder, it is the one above."""
    if "homes" in scene.plan.kind:
        return scene.bench.homes
    return scene.run if scene.run.is_dir() else scene.disk


def make_read_only(scene: Scene) -> str:
    """Mounts the folder over itself to be read only, or makes it and its files immutable."""
    target = _target(scene)
    if scene.draws.random() < 0.5:
        # Made read-only elsewhere first: the run may open a file between a mount and its change, which is then refused.
        aside = scene.bench.folder / "read-only"
        aside.mkdir()
        subprocess.run(["mount", "--bind", target, aside], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", aside], check=True)
        subprocess.run(["mount", "--bind", aside, target], check=True)
        subprocess.run(["umount", aside], check=True)
        return f"{target.name} is mounted read-only"
    everything = ("-R",) if scene.draws.random() < 0.5 else ()
    subprocess.run(["chattr", *everything, "+i", target], stderr=subprocess.DEVNULL)
    return f"{target.name} is immutable {' '.join(everything)}"


def remove(scene: Scene) -> str:
    """Removes the folder with all in it, or gives it another name."""
    target = _target(scene)
    if scene.draws.random() < 0.5:
        shutil.rmtree(target, ignore_errors=True)
        return f"{target.name} is removed"
    target.rename(scene.bench.folder / "moved")
    return f"{target.name} has another name"


def unmount(scene: Scene) -> str:
    """Takes the disk of the run or of the homes away, also while files of it are open."""
    disk = scene.bench.homes if "homes" in scene.plan.kind else scene.disk
    subprocess.run(["umount", "-l", disk], check=True)
    return f"{disk.name} is unmounted"


def truncate(scene: Scene) -> str:
    """Cuts a file of the run's folder."""
    files = sorted(path for path in scene.run.glob("*") if path.is_file()) if scene.run.is_dir() else []
    if not files:
        return ""
    file = scene.draws.choice(files)
    with suppress(FileNotFoundError):
        size = file.stat().st_size
        left = scene.draws.choice((0, max(size - 1, 0), size // 2, scene.draws.randrange(size + 1)))
        os.truncate(file, left)
        return f"{file.name} is cut from {size} to {left} bytes"
    return ""


def kill(scene: Scene) -> str:
    """Kills loadgo."""
    scene.send(signal.SIGKILL)
    return "killed"


def interrupt(scene: Scene) -> str:
    """Sends a signal that ends a run in order, once or twice."""
    numbers = [scene.draws.choice(ENDING_SIGNALS)]
    if scene.plan.kind == "two signals":
        numbers.append(scene.draws.choice(ENDING_SIGNALS))
    gap_s = scene.draws.choice((0.0, 0.02, scene.draws.random()))
    for place, number in enumerate(numbers):
        with suppress(subprocess.TimeoutExpired):
            assert scene.running is not None
            scene.running.wait(gap_s if place else 0)
        scene.send(number)
    return f"{' and '.join(number.name for number in numbers)}, {gap_s:.2f} s between"


def stop_and_continue(scene: Scene) -> str:
    """Stops the process for a while."""
    pause_s = scene.draws.random() * 1.5
    with suppress(ProcessLookupError):
        os.kill(scene.pid, signal.SIGSTOP)
        time.sleep(pause_s)
        os.kill(scene.pid, signal.SIGCONT)
    return f"stopped for {pause_s:.2f} s"


def _limit(scene: Scene, kind: int, most: int) -> str:
    with suppress(ProcessLookupError):
        resource.prlimit(scene.pid, kind, (most, most))
    return f"limited to {most}"


def limit_descriptors(scene: Scene) -> str:
    """Lets the process open only a few more files, or none."""
    with suppress(FileNotFoundError):
        held = len(os.listdir(f"/proc/{scene.pid}/fd"))
        return _limit(scene, resource.RLIMIT_NOFILE, max(held + scene.draws.randint(-5, 8), 0))
    return ""


def limit_processes(scene: Scene) -> str:
    """Lets the run's group have only a few more processes and threads, or none."""
    if scene.group is None:
        return ""
    held = int((scene.group / "pids.current").read_text())
    _limit_group(scene, "pids.max", max(held + scene.draws.randint(-1, 4), 0))
    return scene.done


def limit_files(scene: Scene) -> str:
    """Lets no file become longer than some bytes."""
    most = scene.draws.choice((0, scene.draws.randrange(2000), scene.draws.randrange(100_000)))
    return _limit(scene, resource.RLIMIT_FSIZE, most)


def limit_memory(scene: Scene) -> str:
    """Gives the process or its group little memory beyond what it has."""
    if scene.group is not None:
        counter = "memory.current" if (scene.group / "memory.current").exists() else "memory.usage_in_bytes"
        held = int((scene.group / counter).read_text())
        _limit_group(scene, _memory_file(scene.group), held + scene.draws.randrange(16 * MEGABYTE))
        return scene.done
    with suppress(OSError):
        held = int(Path(f"/proc/{scene.pid}/statm").read_text().split()[0]) * resource.getpagesize()
        return _limit(scene, resource.RLIMIT_AS, held + scene.draws.randrange(64 * MEGABYTE))
    return ""


def kill_shells(scene: Scene) -> str:
    """Kills some of the users' shells, or all."""
    shells = sorted(processes_of(scene.bench))
    chosen = shells if scene.draws.random() < 0.5 else scene.draws.sample(shells, len(shells) // 2)
    for pid in chosen:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return f"killed {len(chosen)} of {len(shells)} processes of users" if chosen else ""


DEEDS: dict[str, Callable[[Scene], str]] = {
    "full disk of the run": fill_disk,
    "full disk of the homes": fill_disk,
    "read-only run folder": make_read_only,
    "read-only homes": make_read_only,
    "removed run folder": remove,
    "removed homes": remove,
    "unmounted run folder": unmount,
    "unmounted homes": unmount,
    "truncated file": truncate,
    "kill -9": kill,
    "kill -9 early": kill,
    "kill -9 while converting": kill,
    "signal": interrupt,
    "two signals": interrupt,
    "stop and continue": stop_and_continue,
    "few descriptors midway": limit_descriptors,
    "few processes midway": limit_processes,
    "short files midway": limit_files,
    "little memory midway": limit_memory,
    "users' shells killed": kill_shells,
}
"""The deed of each kind at the drawn moment. Kinds that are missing here are there from the start."""


# What is undone when the run has ended.


def make_good(scene: Scene) -> None:
    """Lets the folders be read and written again, as far as they are still there."""
    for folder in (scene.run, scene.disk, scene.bench.homes):
        if "read-only" in scene.plan.kind:
            subprocess.run(["umount", "-q", folder], stderr=subprocess.DEVNULL)
            subprocess.run(["chattr", "-R", "-f", "-i", folder], stderr=subprocess.DEVNULL)
        (folder / "ballast").unlink(missing_ok=True)
    scene.bench.homes.mkdir(exist_ok=True)


def clear(scene: Scene) -> None:
    """Unmounts the disks and removes the group."""
    for folder in (scene.run, scene.disk, scene.bench.homes, scene.bench.folder / "read-only"):
        while _is_mounted(folder):
            subprocess.run(["umount", "-l", folder], check=True)
    if scene.group is not None:
        scene.group.rmdir()


def _is_mounted(folder: Path) -> bool:
    """Whether something is mounted there. `os.path.ismount` does not see a folder that is mounted over itself."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == str(folder) for line in mounts)
