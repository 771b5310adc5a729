"""Mistakes in files that no JSON Schema can find: an example of each, and the words of the parser about it."""

from __future__ import annotations

from dataclasses import dataclass

MACHINE = 'title = "t"\nsource = "s"\n'
ANY_COMMAND = '[commands."*"]\ncpu = "1s"\n'
PAGED = 'residence = "paging"\nheadway_per_page = "3ms"\ndevice = "drum"\n'
DRUM = '[storage.drum]\nkind = "server"\nservice = "1ms"\n'
GRID = 'machines = ["ctss"]\nscript = "light"\n'


@dataclass(frozen=True)
class BeyondSchemas:
    """A mistake that the parser alone can find."""

    kind: str
    """The kind of file."""
    text: str
    """A file with the mistake and no other."""
    pattern: str
    """A regular expression for the parser's words about it."""


MEANINGS = (
    BeyondSchemas("script", 'lines = ["ls"]\nthink = "soon"', "is no law of think time"),
    BeyondSchemas("script", 'lines = ["ls"]\ntyping = "fast"', "is not a typing rate"),
    BeyondSchemas("script", 'lines = ["ls"]\ntimeout = "soon"', "is not a time"),
    BeyondSchemas("script", 'lines = ["ls"]\nneeds = ["c c"]', "is one name without blanks"),
    BeyondSchemas("script", 'lines = [{ type = "ls", until = "(" }]', "does not compile"),
    BeyondSchemas("script", 'lines = [{ type = "ls", until = "x*" }]', "matches before anything is printed"),
    BeyondSchemas("script", 'lines = ["ls {random:LIST}"]', "there is no list"),
    BeyondSchemas("script", 'lines = ["ls"]\nlogout = ""', "is empty"),
    BeyondSchemas("script", 'lines = ["ls"]\narrivals = { "09:00" = "often" }', "is not a rate"),
    BeyondSchemas("script", 'lines = ["ls"]\narrivals = { "09:00" = "0/h" }', "nobody ever arrives"),
    BeyondSchemas("script", 'lines = [{ keys = "" }]', "no key is typed here"),
    BeyondSchemas("script", 'lines = [{ keys = "<Foo>" }]', "there is no key"),
    BeyondSchemas("script", 'lines = [{ keys = "a", shows = "x*" }]', "matches an empty screen"),
    BeyondSchemas("machine", MACHINE + '[commands."*"]\ncpu = "some"', "is no law"),
    BeyondSchemas("machine", MACHINE + '[commands."*"]\ncpu = ""', "an amount is missing"),
    BeyondSchemas("machine", MACHINE + ANY_COMMAND + '[[load]]\narrivals = "often"', "is not a rate"),
    BeyondSchemas("machine", MACHINE + ANY_COMMAND + 'program = ""', "cannot name a program"),
)
"""The meaning of texts: times, rates, laws, regular expressions, commands, placeholders."""

REFERENCES = (
    BeyondSchemas(
        "script",
        'lines = [{ repeat = 9, choose = ["ls", { type = "cat", then = { lsof = 1 } }] }]',
        "no alternative of",
    ),
    BeyondSchemas(
        "script",
        'lines = [{ repeat = 9, choose = ["ls", "ls -l", { type = "cat", then = { ls = 1 } }] }]',
        "several alternatives are called",
    ),
    BeyondSchemas("machine", MACHINE + ANY_COMMAND + "requests = { disk = 1 }", "there is no store"),
    BeyondSchemas(
        "machine", MACHINE + '[commands.edit]\ncpu = "1s"\n[[load]]\nusers = 2\ncommands = ["list"]', "no entry covers"
    ),
    BeyondSchemas(
        "machine",
        MACHINE + '[commands.edit]\nroute = [{ at = "processor", service = "1s", then = { 7 = 1.0 } }]',
        "there is no stage",
    ),
    BeyondSchemas("machine", MACHINE + '[commands.edit]\nlike = "list"', "there is no command"),
    BeyondSchemas("machine", 'like = "multics-646"', "there is no machine called"),
    BeyondSchemas("machine", 'like = ""', "is a folder; a machine is a TOML file"),
)
"""References: stores, commands and stages of a machine, and the machine that it is `like`."""

AGREEMENTS = (
    BeyondSchemas("script", 'lines = [{ choose = [{ weight = 0, type = "ls" }] }]', "a weight is a number over 0"),
    BeyondSchemas(
        "script", 'lines = [{ choose = ["ls", { type = "cat", then = { ls = 1 } }] }]', "give the choice a `repeat`"
    ),
    BeyondSchemas(
        "script",
        'lines = [{ repeat = 9, choose = ["ls", { type = "cat", then = { ls = 0 } }] }]',
        "nothing may come after",
    ),
    BeyondSchemas(
        "script",
        'lines = [{ repeat = 9, choose = ["ls", { type = "cat", then = { cat = 1 } }] }]',
        "nothing else would ever come",
    ),
    BeyondSchemas(
        "script",
        'lines = [{ repeat = 9, choose = ["ls", { weight = 0, type = "cat", then = { ls = 1 } }] }]',
        "is never reached",
    ),
    BeyondSchemas(
        "script",
        'lines = [{ repeat = 9, choose = [{ weight = 0, type = "ls", then = { ls = 1, cat = 1 } }, '
        '{ weight = 0, type = "cat" }] }]',
        "no alternative may come first",
    ),
    BeyondSchemas("script", 'lines = [{ type = "ls", cursor = [1, 1] }]', "is about the screen"),
    BeyondSchemas("script", 'lines = ["ls"]\nuntil = "screen"', "belongs to lines and groups"),
    BeyondSchemas(
        "machine",
        MACHINE + '[commands.edit]\nroute = [{ at = "processor", service = "1s", then = { 0 = 0.5, done = 0.6 } }]',
        "add up to",
    ),
    BeyondSchemas(
        "machine",
        MACHINE
        + '[processors]\ndiscipline = "tenex"\nquanta = ["64ms", "256ms"]\nbases = [1]\nshifts = [3, 5]\n'
        + ANY_COMMAND,
        "has \\d+ values",
    ),
    BeyondSchemas(
        "machine",
        MACHINE + "[memory]\nframes = 8\nwired = 8\n" + PAGED + DRUM + ANY_COMMAND,
        "all \\d+ frames are wired",
    ),
    BeyondSchemas(
        "machine",
        MACHINE
        + '[memory]\nresidence = "swapping"\nwords = 100\ndevice = "drum"\n'
        + DRUM
        + ANY_COMMAND
        + 'image_words = "fixed(200)"',
        "is larger than core",
    ),
    BeyondSchemas(
        "machine",
        MACHINE + '[memory]\nresidence = "paging"\ndevice = "drum"\nframes = 8\n'
        'headway_curve = [[10, "2ms"], [20, "1ms"]]\n' + DRUM + ANY_COMMAND,
        "must rise",
    ),
    BeyondSchemas(
        "machine",
        MACHINE + '[memory]\nframes = 8\nreplacement = "equal"\n' + PAGED + DRUM + ANY_COMMAND,
        "equal shares need",
    ),
    BeyondSchemas(
        "machine",
        MACHINE + '[multiprogramming]\ncontrol = "working sets"\nmost = 3\n' + ANY_COMMAND,
        "working sets only",
    ),
    BeyondSchemas(
        "machine",
        MACHINE + "[supervisor.table]\nentries = 4\nper_user = 5\n" + ANY_COMMAND,
        "a user needs \\d+ entries",
    ),
    BeyondSchemas(
        "machine",
        MACHINE + '[supervisor]\nnetwork_message = "1ms"\n' + ANY_COMMAND,
        "size of a network message",
    ),
    BeyondSchemas("machine", MACHINE + ANY_COMMAND + "request_correlation = 0.5", "joins processor time and requests"),
    BeyondSchemas("machine", MACHINE + ANY_COMMAND + "[[load]]\nusers = 2\n" * 2, "two classes"),
    BeyondSchemas("machine", MACHINE + '[commands."*"]\ncpu = "0s"\n[[load]]\nusers = 2', "would never pass"),
    BeyondSchemas("hosts", '[[hosts]]\naddress = "ssh://a"\n' * 2, "two hosts"),
    BeyondSchemas("grid", GRID + "users = { from = 9, to = 5 }", "no such range"),
    BeyondSchemas("grid", GRID + "users = { from = 5, to = 2_000_000 }", "and [\\d,]+ to [\\d,]+ are possible"),
    BeyondSchemas("grid", GRID + "users = { from = 1, to = 1_000_000_000_000 }", "more than [\\d,]+ numbers"),
    BeyondSchemas("grid", GRID + "users = { from = 1, to = 900_000 }\nseeds = 900_000", "simulations; at most"),
    BeyondSchemas("grid", GRID + 'users = 5\n[set]\n"memory.frames" = [64, 64]', "twice: leave one out"),
)
"""Values that must agree: weights that add up to 1, lists of one length, frames and wired frames, core memory."""

KEYS_OF_ANOTHER = (
    BeyondSchemas("machine", 'like = "multics-645"\n[storage.tape]', "the store has no kind"),
    BeyondSchemas("machine", 'like = "multics-645"\n[multiprogramming]\ndevice = "drum"', "needs a control"),
    BeyondSchemas("machine", 'like = "multics-645"\n[supervisor]\npage_fault = {}', "there are no steps"),
)
"""Keys that neither a file nor the machine that it is `like` has."""

EVERY_FILE = (*REFERENCES, *AGREEMENTS)
"""Mistakes of all files that no schema can find, besides the meaning of texts."""


def patterns(*examples: BeyondSchemas) -> str:
    """A regular expression for the words about any of these mistakes."""
    return "|".join(f"(?:{example.pattern})" for example in examples)
