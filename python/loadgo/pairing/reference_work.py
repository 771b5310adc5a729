"""A program that does the same small piece of work on each processor in turn, and writes how long each piece took.

It runs by itself, without loadgo's modules. A line has the time of day and the piece's processor time, both in
nanoseconds, and the processor. It ends when the process that started it has ended.
"""

import os
import time

PIECE_STEPS = 25_000
"""Steps of the loop: about two milliseconds of processor time."""
PAUSE_S = 0.1
"""The pause between two pieces on a processor: the work takes about two per cent of it."""
LEAST_PAUSE_S = 0.005


def work() -> int:
    """Does one piece, and returns its processor time in nanoseconds."""
    began_ns = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
    total = 0
    for step in range(PIECE_STEPS):
        total += step
    return time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID) - began_ns


def main() -> None:
    """Goes from processor to processor until the parent is another process."""
    parent, processors = os.getppid(), sorted(os.sched_getaffinity(0))
    pause_s = max(PAUSE_S / len(processors), LEAST_PAUSE_S)
    while True:
        for processor in processors:
            if os.getppid() != parent:
                return
            try:
                os.sched_setaffinity(0, {processor})
            except OSError:  # taken out of service
                continue
            took_ns = work()
            os.write(1, f"{time.time_ns()} {took_ns} {processor}\n".encode())
            time.sleep(pause_s)


if __name__ == "__main__":
    main()
