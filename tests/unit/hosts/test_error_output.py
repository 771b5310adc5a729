"""The last part of what a process prints as errors, on a busy host too."""

import subprocess
import time

from loadgo.hosts.error_output import MOST_KEPT_BYTES, ErrorOutput


def errors_of(script: str) -> tuple[subprocess.Popen[bytes], ErrorOutput]:
    process = subprocess.Popen(["sh", "-c", script], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    return process, ErrorOutput(process.stderr)


def test_words_are_there_while_a_process_of_the_ended_one_holds_the_pipe() -> None:
    process, errors = errors_of("sleep 30 & echo $! >&2")
    process.wait()
    holder = errors.last_part()
    assert holder.strip().isdigit()
    subprocess.run(["kill", holder.strip()], check=True)
    with process:
        pass


def test_the_first_words_are_waited_for_longer_than_the_rest() -> None:
    process, errors = errors_of("{ sleep 2; echo late >&2; } &")
    process.wait()
    began_s = time.monotonic()
    assert errors.last_part() == b"late\n"
    assert time.monotonic() - began_s > 1
    with process:
        pass


def test_the_last_part_is_kept() -> None:
    process, errors = errors_of(f"head -c {MOST_KEPT_BYTES * 3} /dev/zero >&2; printf end >&2")
    process.wait()
    assert len(errors.last_part()) == MOST_KEPT_BYTES
    assert errors.last_part().endswith(b"end")
    with process:
        pass
