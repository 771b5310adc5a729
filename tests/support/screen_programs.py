"""Programs that fill the screen in ways that a test asks for, as the text of files in a user's home."""

from __future__ import annotations

import sys

RAW = """
import os, select, sys, termios, time, tty
saved = termios.tcgetattr(0)
tty.setraw(0)
draw = lambda text: os.write(1, text)
draw(b"\\x1b[?1049h\\x1b[2J\\x1b[Hready")
def leave():
    draw(b"\\x1b[?1049l")
    termios.tcsetattr(0, termios.TCSANOW, saved)
    sys.exit(3)
"""
"""The beginning of each program: it takes single keys, and has filled the screen. `leave` ends it with status 3."""

SLOW = (
    RAW
    + """
log = open("times", "w")
count = 0
while True:
    key = os.read(0, 1)
    began = time.monotonic_ns()
    if key == b"q":
        leave()
    count += 1
    time.sleep(0.02)
    draw(b"\\x1b[2;1H%d" % count)
    time.sleep(0.03)
    draw(b"\\x1b[3;1H%d" % count)
    print(began, time.monotonic_ns(), file=log, flush=True)
"""
)
"""Draws twice for each key, at least 20 ms and 50 ms after it, and writes down when it read the key and was done."""

BUSY = (
    RAW
    + """
while True:
    key = os.read(0, 1)
    if key == b"q":
        leave()
    draw(b"\\x1b[2;1Hworking")
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    draw(b"\\x1b[2;1H" + key + b"      ")
"""
)
"""Draws at a key, computes for 300 ms of processor time, and draws again."""

BLIND = (
    RAW
    + """
while True:
    if os.read(0, 1) == b"q":
        leave()
"""
)
"""Draws nothing for a key."""

CLOCK = (
    RAW
    + """
os.read(0, 1)
count = 0
while not select.select([0], [], [], 0.01)[0]:
    count += 1
    draw(b"\\x1b[2;1H%d" % count)
os.read(0, 1)
leave()
"""
)
"""Draws each hundredth of a second from its first key to the next, which ends it."""

ASKING = (
    RAW
    + """
def ask(question, end):
    draw(question)
    answer = b""
    while not answer.endswith(end):
        answer += os.read(0, 1)
    return answer
while True:
    key = os.read(0, 1)
    if key == b"q":
        leave()
    place, kind = ask(b"\\x1b[5;9H\\x1b[6n", b"R"), ask(b"\\x1b[c", b"c")
    draw(b"\\x1b[7;1H" + repr((place, kind)).encode())
"""
)
"""Asks its terminal for the cursor's place and for its kind at each key, and waits for the answers."""

BYTES = (
    RAW
    + """
while True:
    key = os.read(0, 1)
    if key == b"q":
        leave()
    draw(b"\\x1b[2;1H\\xff\\xfe\\xc3" + os.urandom(600).replace(b"\\x1b", b"") + key)
"""
)
"""Draws bytes that are no text for each key."""

COUNTING = (
    RAW
    + """
count = 0
while True:
    keys = os.read(0, 4096)
    count += len(keys)
    draw(b"\\x1b[2;1H%d keys" % count)
    if keys.endswith(b"q"):
        leave()
"""
)
"""Shows the number of its keys."""

SIZES = (
    RAW
    + """
import fcntl, signal, struct
def size(*_):
    draw(b"\\x1b[2;1H%d x %d   " % struct.unpack("HHHH", fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8)))[:2])
signal.signal(signal.SIGWINCH, size)
while True:
    key = os.read(0, 1)
    if key == b"q":
        leave()
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
"""
)
"""Gives its terminal another size at a key, and shows it."""

CALLED = f"{sys.executable} -S program.py"
"""The line that starts the program of a user's home."""
