"""Where the command `loadgo`, which is `python -m loadgo` too, begins."""

import signal
import sys


def main() -> None:
    """Loads the command line and runs it; an interrupt while nothing is begun yet ends the process without a word."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from loadgo.cli import app, output

    try:
        signal.signal(signal.SIGINT, before)
        app.main()
    except KeyboardInterrupt:
        sys.exit(output.STATUS_INTERRUPTED)


if __name__ == "__main__":
    main()
