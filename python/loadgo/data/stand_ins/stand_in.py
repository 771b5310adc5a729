"""Uses what a program was seen to use: processor time, page faults, memory, processes; and waits as long.

Arguments: seconds of user and of system time, page faults, pages held at once, processes, seconds of waiting. The times
include the start of this program, and end as soon as the kernel has counted them.
"""

import mmap
import os
import resource
import sys
import time

STEP_BYTES = 65536
WORK_STEPS = 500
SHORT_PROGRAM = "/bin/true"
USAGE_KINDS = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def used_s() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, USAGE_KINDS))


def faults_so_far() -> int:
    """Minor page faults of the same processes."""
    return sum(usage.ru_minflt for usage in map(resource.getrusage, USAGE_KINDS))


def start(processes: int, most_s: float) -> None:
    """Starts so many processes, one after the other. Each ends at once."""
    for _ in range(processes):
        if used_s() >= most_s:
            return
        os.spawnv(os.P_WAIT, SHORT_PROGRAM, [SHORT_PROGRAM])


def touch(pages: int, held: int, most_s: float) -> "mmap.mmap | None":
    """Touches so many pages, of which at most `held` are there at once. Returns the last ones, which stay."""
    memory = None
    while pages > 0 and used_s() < most_s:
        count = min(pages, held)
        memory = mmap.mmap(-1, count * mmap.PAGESIZE)
        if hasattr(memory, "madvise"):  # Python 3.8 and later
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for place in range(0, len(memory), mmap.PAGESIZE):
            memory[place] = 1
        pages -= count
    return memory


def work_in_system(until_s: float) -> None:
    """Reads zeros, which the kernel writes, until so much processor time is used."""
    zeros, buffer = os.open("/dev/zero", os.O_RDONLY), bytearray(STEP_BYTES)
    while used_s() < until_s:
        os.readv(zeros, [buffer])
    os.close(zeros)


def work(until_s: float) -> None:
    """Computes until so much processor time is used."""
    while used_s() < until_s:
        for _ in range(WORK_STEPS):
            pass


user_s, system_s, faults, pages, processes, waiting_s = map(float, sys.argv[1:])
all_s = user_s + system_s
begin_s = used_s()
start(int(processes) - 1, all_s)
kept = touch(int(faults) - faults_so_far(), max(int(pages), 1), all_s)
work_in_system(min(max(used_s(), begin_s + system_s), all_s))
work(all_s)
time.sleep(waiting_s)
os._exit(0)  # Python takes some milliseconds to end in order, which nobody counts
