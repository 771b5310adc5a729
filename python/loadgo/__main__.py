"""The entry of the command `loadgo`, and of `python -m loadgo`."""

import os
import sys

_INTERRUPTED_WORDS = b"loadgo: interrupted\n"
_NO_MEMORY_WORDS = b"loadgo: there is no memory left for this process: raise its limit (ulimit -v), or make room\n"
_NO_FILES_WORDS = b"loadgo: a part of loadgo cannot be loaded: too many open files: raise the limit (ulimit -n)\n"


def _shortage(error: BaseException) -> bytes:
    """Words for what the process had too little of as it was loaded; empty if it was not that."""
    if isinstance(error, MemoryError) or "failed to map segment" in str(error):
        return _NO_MEMORY_WORDS
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return _NO_FILES_WORDS
    return b""


def _keep_bytecode_whole() -> None:
    """Lets Python keep no compiled modules where files may not be as long as they get (`ulimit -f`).

    Python does not see that such a file was cut (cpython issue 126606), and every later command would fail.
    """
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
        sys.dont_write_bytecode = True


try:
    import atexit
    import gc
    import resource

    _keep_bytecode_whole()
    import signal
except KeyboardInterrupt:  # before `main` can catch it
    os.write(2, _INTERRUPTED_WORDS)
    os._exit(130)
except (MemoryError, ImportError, OSError) as refusal:  # of the parts of Python itself
    os.write(2, _shortage(refusal) or b"loadgo: a part of Python cannot be loaded\n")
    os._exit(2)

_NOT_RUN_STATUS, _INTERRUPTED_STATUS = 2, 130
"""The statuses of `loadgo.cli.output`, which may not be loaded when they are needed."""
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Modules are objects that stay: with Python's own 700, `loadgo --help` takes 4 % more to search them for garbage."""
_ENDING_WORDS = {
    signal.SIGINT: _INTERRUPTED_WORDS,
    signal.SIGTERM: b"loadgo: ended by SIGTERM\n",
    signal.SIGHUP: b"loadgo: ended by SIGHUP\n",
}


def main() -> None:
    """Loads the command line and runs it. A signal while it is loaded ends the process in words.

    An interrupt at any time gives the status 130, also while the process ends. SIGTERM gives 143 and SIGHUP 129, unless
    a run catches them to end in order.
    """
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    own_handler = signal.getsignal(signal.SIGINT)
    for number in _ENDING_WORDS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_in_words)
    try:
        from loadgo.cli import app

        try:
            signal.signal(signal.SIGINT, own_handler)
            app.main()
        finally:
            gc.freeze()  # else Python looks for garbage among all modules as it ends: a tenth of a second of a report
            _settle_interrupts()
    except KeyboardInterrupt:
        _settle_interrupts()
        sys.exit(_INTERRUPTED_STATUS)
    except SystemExit:
        raise
    except BaseException as error:
        # Python's own status for an error that nobody caught is 1, which here says that a finding is bad.
        if shortage := _shortage(error):
            os.write(2, shortage)
        elif damaged := _damaged_bytecode(error):
            sys.stderr.write(f"loadgo: a compiled module of Python is damaged: delete {damaged}\n")
        elif isinstance(error, ImportError) and "PYTHONPATH" in os.environ and "LOADGO_TRACEBACK" not in os.environ:
            _print_foreign_modules(error)
        else:
            import traceback

            traceback.print_exc()
        sys.exit(_NOT_RUN_STATUS)


def _damaged_bytecode(error: BaseException) -> str:
    """The file of a compiled module that Python could not read, as after a full disk; empty if it was not that."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    if not frames or frames[-1].f_code.co_name != "_compile_bytecode":
        return ""
    return str(next((frame.f_locals.get("bytecode_path", "") for frame in reversed(frames[:-1])), ""))


def _print_foreign_modules(error: ImportError) -> None:
    """Says that a module could not be loaded where PYTHONPATH is set, as environment modules of clusters do."""
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    sys.stderr.write(
        f"loadgo: a module cannot be loaded: {lines[0].strip()}: PYTHONPATH is set, and may bring modules of another "
        "Python: `env -u PYTHONPATH loadgo …`; with LOADGO_TRACEBACK=1 the whole error is printed\n"
    )


def _end_in_words(number: int, _frame: object) -> None:
    """Ends the process at once, with a word and a status: a death by the signal itself would be silent."""
    try:
        os.write(2, _ENDING_WORDS[signal.Signals(number)])
    finally:
        os._exit(128 + number)


def _settle_interrupts() -> None:
    """Lets a further interrupt end the process at once, and Python forget the earlier ones.

    After `-m`, Python ends by the signal and not with the status if an interrupt came in code that it ran from a text.
    A dataclass is made of such code. Running another text forgets that.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _end_in_words)
    # Python ends with the handlers of the system: a signal would end the process in silence.
    for number in _ENDING_WORDS:
        atexit.register(signal.signal, number, signal.SIG_IGN)
    exec("")


if __name__ == "__main__":
    main()
