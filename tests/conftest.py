"""What every test begins with: interrupts are heard, as by whoever is started from a terminal.

A shell starts what it puts in the background with interrupts ignored, and nohup what it starts with hang-ups; all that
is begun from there inherits that, and no test could interrupt a command.
"""

import signal

for number, heard in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, heard)
