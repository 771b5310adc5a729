"""The entry of the command `loadgo`, and of `python -m loadgo`."""

import signal
import sys


def main() -> None:
    """Loads the command line and runs it. An interrupt while it is loaded ends the process without a message."""
    own_handler = signal.getsignal(signal.SIGINT)
    if own_handler is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from loadgo.cli import app, output

    try:
        signal.signal(signal.SIGINT, own_handler)
        app.main()
    except KeyboardInterrupt:
        sys.exit(output.STATUS_INTERRUPTED)


if __name__ == "__main__":
    main()
