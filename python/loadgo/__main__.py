"""The entry of the command `loadgo`, and of `python -m loadgo`."""

import atexit
import os
import signal
import sys

_INTERRUPTED_STATUS = 130
"""The status of `loadgo.cli.output`, which may not be loaded when it is needed."""


def main() -> None:
    """Loads the command line and runs it. An interrupt while it is loaded ends the process without a message.

    An interrupt at any later time gives the status 130, also while the process ends.
    """
    own_handler = signal.getsignal(signal.SIGINT)
    if own_handler is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from loadgo.cli import app

    try:
        try:
            signal.signal(signal.SIGINT, own_handler)
            app.main()
        finally:
            _settle_interrupts()
    except KeyboardInterrupt:
        _settle_interrupts()
        sys.exit(_INTERRUPTED_STATUS)


def _settle_interrupts() -> None:
    """Lets a further interrupt end the process at once, and Python forget the earlier ones.

    After `-m`, Python ends by the signal and not with the status if an interrupt came in code that it ran from a text.
    A dataclass is made of such code. Running another text forgets that.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED_STATUS))
        # Python ends with the handlers of the system, and an interrupt would end the process by the signal.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    exec("")


if __name__ == "__main__":
    main()
