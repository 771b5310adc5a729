"""Uses what a program was seen to use: processor time, page faults, memory, processes, bytes; and waits as long.

Arguments: seconds of user and of system time, page faults, pages held at once, processes, seconds of waiting. Five more
may follow: bytes read and written by calls, bytes read from storage and written to it, and processors used at once. The
times include the start of this program, and end as soon as the kernel has counted them. `prepare BYTES` makes the file
to read from.
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
READ_FILE, READ_FILE_BYTES = "stand-in.read", 1 << 24
WRITTEN_FILE, MOST_WRITTEN_FILE_BYTES = "stand-in.written", 1 << 26


def used_s() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, USAGE_KINDS))


def faults_so_far() -> int:
    """Minor page faults of the same processes."""
    return sum(usage.ru_minflt for usage in map(resource.getrusage, USAGE_KINDS))


def bytes_so_far() -> "tuple[int, int]":
    """Bytes that the same processes read and wrote by calls; 0 where the kernel does not count them."""
    try:
        with open("/proc/self/io") as file:
            return int(file.readline().split()[1]), int(file.readline().split()[1])
    except OSError:
        return 0, 0


def blocked_s() -> float:
    """Time without a processor that this process did not want one; of an unknown beginning."""
    try:
        with open("/proc/self/schedstat") as file:
            ready_s = int(file.read().split()[1]) / 1e9
    except OSError:
        ready_s = 0.0
    return time.monotonic() - used_s() - ready_s


def start(processes: int, most_s: float) -> None:
    """Starts so many processes, one after the other. Each ends at once."""
    for _ in range(processes):
        if used_s() >= most_s:
            return
        os.spawnv(os.P_WAIT, SHORT_PROGRAM, [SHORT_PROGRAM])


def prepare(length: int) -> None:
    """Makes the file that is read from storage, of bytes that no file system can compress. A part of it is none."""
    try:
        with open(READ_FILE, "wb") as file:
            for _ in range(0, length, STEP_BYTES):
                file.write(os.urandom(STEP_BYTES))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError as error:
        if os.path.exists(READ_FILE):
            os.unlink(READ_FILE)
        sys.exit(f"stand-in: {READ_FILE}: {error.strerror}")


def read_stored(left: int, most_s: float) -> None:
    """Reads so many bytes from storage: the file leaves the page cache first, and nothing is read ahead."""
    if not os.path.exists(READ_FILE) or not os.path.getsize(READ_FILE):
        prepare(READ_FILE_BYTES)
    file = os.open(READ_FILE, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    while left > 0:
        os.lseek(file, 0, os.SEEK_SET)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        for _ in range(0, os.fstat(file).st_size, STEP_BYTES):
            if left <= 0 or used_s() >= most_s:
                return
            left -= len(os.read(file, min(left, STEP_BYTES)))


def write_stored(left: int, most_s: float) -> None:
    """Adds so many bytes to a file. When it is large it is stored, and begins anew: else writes would be undone."""
    file = os.open(WRITTEN_FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    step = os.urandom(STEP_BYTES)
    while left > 0 and used_s() < most_s:
        if os.fstat(file).st_size >= MOST_WRITTEN_FILE_BYTES:
            os.fsync(file)
            os.ftruncate(file, 0)
        left -= os.write(file, step[: min(left, STEP_BYTES)])


def move(read_bytes: int, written_bytes: int, most_s: float) -> None:
    """Reads and writes by calls until both counts are reached, in memory."""
    if hasattr(os, "memfd_create"):  # Python 3.8 and later
        memory = os.memfd_create("stand-in")
        os.ftruncate(memory, STEP_BYTES)
    else:
        memory = os.open("/dev/zero", os.O_RDWR)
    step = bytes(STEP_BYTES)
    so_far = bytes_so_far()
    to_read, to_write = read_bytes - so_far[0], written_bytes - so_far[1]
    while (to_read > 0 or to_write > 0) and used_s() < most_s:
        if to_write > 0:
            to_write -= os.pwrite(memory, step[: min(to_write, STEP_BYTES)], 0)
        if to_read > 0:
            to_read -= len(os.pread(memory, min(to_read, STEP_BYTES), 0))


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
    """Takes random bytes, which the kernel makes, until so much processor time is used. No read is counted for them."""
    while used_s() < until_s:
        os.urandom(STEP_BYTES)


def work(until_s: float) -> None:
    """Computes until so much processor time is used."""
    while used_s() < until_s:
        for _ in range(WORK_STEPS):
            pass


def work_at_once(until_s: float, processors: int) -> None:
    """Divides the processor time that is left among so many processes, which compute at the same time."""
    share_s = max(until_s - used_s(), 0.0) / processors
    helpers = []
    for _ in range(processors - 1):
        helper = os.fork()
        if not helper:
            work(used_s() + share_s)
            os._exit(0)
        helpers.append(helper)
    work(used_s() + share_s)
    for helper in helpers:
        os.waitpid(helper, 0)


if sys.argv[1] == "prepare":
    prepare(int(sys.argv[2]))
    sys.exit()
user_s, system_s, faults, pages, processes, waiting_s, *more = map(float, sys.argv[1:])
moved = [int(count) for count in more[:4]]
read_bytes, written_bytes, storage_read, storage_written = moved or [0] * 4
processors = int(more[4]) if len(more) > 4 else 1
all_s = user_s + system_s
begin_s = used_s()
start(int(processes) - processors, all_s)
begin_blocked_s = blocked_s()
if storage_read:
    read_stored(storage_read, all_s)
if storage_written:
    write_stored(storage_written, all_s)
if read_bytes or written_bytes:
    move(read_bytes, written_bytes, all_s)
waited_s = max(blocked_s() - begin_blocked_s, 0.0) if any(moved) else 0.0
kept = touch(int(faults) - faults_so_far(), max(int(pages), 1), all_s)
work_in_system(min(max(used_s(), begin_s + system_s), all_s))
if processors > 1:
    work_at_once(all_s, processors)
work(all_s)
time.sleep(max(waiting_s - waited_s, 0.0))
os._exit(0)  # Python takes some milliseconds to end in order, which nobody counts
