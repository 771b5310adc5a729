//! Mistakes in machine files written by hand: ▶ marks the place, and what follows must be in the message.

/// Whole files; `title` and `source` stand in each that is about something else.
pub const WRITTEN: [(&str, &str); 88] = [
    ("title = ▶", "this is not TOML"),
    ("source = 's'\n[commands.x]\ncpu = '1s'", "add title"),
    ("title = 't'\n[commands.x]\ncpu = '1s'", "add source"),
    ("title = ▶''\nsource = 's'\n[commands.x]\ncpu = '1s'", "is empty"),
    ("title = 't'\nsource = 's'", "there are no commands"),
    ("title = 't'\nsource = 's'\n▶[commands]", "there are no commands"),
    ("▶procesors = {}\ntitle = 't'\nsource = 's'", "did you mean `processors`?"),
    ("title = 't'\nsource = 's'\nprocessors = ▶3", "a table"),
    ("title = 't'\nsource = 's'\n[processors]\ncount = ▶0\n[commands.x]\ncpu = '1s'", "from 1 to"),
    ("title = 't'\nsource = 's'\n[processors]\nspeed = ▶0\n[commands.x]\ncpu = '1s'", "over 0"),
    ("title = 't'\nsource = 's'\n[processors]\ncpu_when_busy = ▶0\n[commands.x]\ncpu = '1s'", "from 0.01 to 100"),
    ("title = 't'\nsource = 's'\n[processors]\ncpu_when_busy = ▶-0.2\n[commands.x]\ncpu = '1s'", "0 or more"),
    ("title = 't'\nsource = 's'\n[processors]\ncpu_when_busy = ▶101\n[commands.x]\ncpu = '1s'", "0.8 is a fifth less"),
    ("title = 't'\nsource = 's'\n[processors]\ncpu_when_busy = ▶inf\n[commands.x]\ncpu = '1s'", "is not finite"),
    ("title = 't'\nsource = 's'\n[processors]\ncpu_when_busy = ▶nan\n[commands.x]\ncpu = '1s'", "is not finite"),
    ("title = 't'\nsource = 's'\n[processors]\ncpu_when_busy = ▶'80 %'\n[commands.x]\ncpu = '1s'", "number"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\ncpu_when_busy = ▶1e300", "from 0.01 to 100"),
    (
        "title = 't'\nsource = 's'\n[commands.x]\ncpu_when_busy = ▶0.8\nroute = [{ at = 'processor', service = '1s' }]",
        "a `route` replaces `cpu_when_busy`",
    ),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'server'\nservice = '1ms'\n[commands.x]\ncpu = '1s'\nrequests = { d = 2 }\nrequest_correlation = ▶1.5",
        "from -1 to 1, not 1.5",
    ),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'server'\nservice = '1ms'\n[commands.x]\ncpu = '1s'\nrequests = { d = 2 }\nrequest_correlation = ▶-1.01",
        "from -1 to 1, not -1.01",
    ),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'server'\nservice = '1ms'\n[commands.x]\ncpu = '1s'\nrequests = { d = 2 }\nrequest_correlation = ▶nan",
        "from -1 to 1",
    ),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'server'\nservice = '1ms'\n[commands.x]\ncpu = '1s'\nrequests = { d = 2 }\nrequest_correlation = ▶'high'",
        "a number from -1 to 1",
    ),
    (
        "title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nrequest_correlation = ▶0.5",
        "add requests = { disk = \"geometric(3)\" }, or take it out",
    ),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nrequests = {}\nrequest_correlation = ▶0", "or take it out"),
    (
        "title = 't'\nsource = 's'\n[commands.x]\nrequest_correlation = ▶0.8\nroute = [{ at = 'processor', service = '1s' }]",
        "a `route` replaces `request_correlation`",
    ),
    (
        "title = 't'\nsource = 's'\n[processors]\ndiscipline = 'sharing'\n▶quantum = '1s'\n[commands.x]\ncpu = '1s'",
        "choose round-robin or ctss",
    ),
    ("title = 't'\nsource = 's'\n[processors]\n▶quantum = '1s'\n[commands.x]\ncpu = '1s'", "add discipline"),
    ("title = 't'\nsource = 's'\n[processors]\ndiscipline = ▶'ctsss'\n[commands.x]\ncpu = '1s'", "did you mean \"ctss\"?"),
    ("title = 't'\nsource = 's'\n▶[processors]\ndiscipline = 'round-robin'\n[commands.x]\ncpu = '1s'", "add quantum = "),
    ("title = 't'\nsource = 's'\n[processors]\ndiscipline = 'round-robin'\nquantum = ▶'0s'\n[commands.x]\ncpu = '1s'", "over 0s"),
    ("title = 't'\nsource = 's'\n▶[processors]\ndiscipline = 'tenex'\n[commands.x]\ncpu = '1s'", "needs `quanta`"),
    (
        "title = 't'\nsource = 's'\n[processors]\ndiscipline = 'tenex'\nquanta = ['1s', '2s']\nbases = ▶[1]\nshifts = [1, 2]\n[commands.x]\ncpu = '1s'",
        "one for each queue",
    ),
    (
        "title = 't'\nsource = 's'\n[processors]\ndiscipline = 'tenex'\nquanta = ['1s', ▶'0s']\nbases = [1, 2]\nshifts = [1, 2]\n[commands.x]\ncpu = '1s'",
        "over 0s",
    ),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '▶200 instructions'", "add instructions_per_second"),
    ("title = 't'\nsource = 's'\n[memory]\n▶frames = 3\n[commands.x]\ncpu = '1s'", "add residence"),
    ("title = 't'\nsource = 's'\n[memory]\nresidence = 'everything'\n▶frames = 3\n[commands.x]\ncpu = '1s'", "choose paging"),
    ("title = 't'\nsource = 's'\n▶[memory]\nresidence = 'paging'\n[commands.x]\ncpu = '1s'", "add frames"),
    ("title = 't'\nsource = 's'\n▶[memory]\nresidence = 'paging'\nframes = 9\n[commands.x]\ncpu = '1s'", "add headway_per_page"),
    (
        "title = 't'\nsource = 's'\n▶[memory]\nresidence = 'paging'\nframes = 9\nheadway_per_page = '1ms'\n[commands.x]\ncpu = '1s'",
        "there is no paging device",
    ),
    (
        "title = 't'\nsource = 's'\n[memory]\nresidence = 'paging'\nframes = 9\nheadway_per_page = '1ms'\ndevice = ▶'drum'\n[commands.x]\ncpu = '1s'",
        "add a table [storage.drum]",
    ),
    (
        "title = 't'\nsource = 's'\n[memory]\nresidence = 'paging'\nframes = 9\nwired = ▶9\n[commands.x]\ncpu = '1s'",
        "leave at least one",
    ),
    (
        "title = 't'\nsource = 's'\n[memory]\nresidence = 'paging'\nframes = 9\nheadway_per_page = '1ms'\nheadway = ▶{ b = '1s', c = 4 }\n[commands.x]\ncpu = '1s'",
        "exclude each other",
    ),
    (
        "title = 't'\nsource = 's'\n[memory]\nresidence = 'paging'\nframes = 9\nheadway = ▶{ b = '1s' }\n[commands.x]\ncpu = '1s'",
        "needs c",
    ),
    (
        "title = 't'\nsource = 's'\n[memory]\nresidence = 'paging'\nframes = 9\nheadway_curve = [[10, '2ms'], ▶[20, '1ms']]\n[commands.x]\ncpu = '1s'",
        "must rise",
    ),
    (
        "title = 't'\nsource = 's'\n[memory]\nresidence = 'paging'\nframes = 9\nheadway_curve = ▶[]\n[commands.x]\ncpu = '1s'",
        "no points",
    ),
    ("title = 't'\nsource = 's'\n▶[memory]\nresidence = 'swapping'\n[commands.x]\ncpu = '1s'", "add words"),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'drum'\nrevolution = '1ms'\n[memory]\nresidence = 'swapping'\ndevice = 'd'\nwords = 100\n[commands.x]\ncpu = '1s'\nimage_words = ▶101",
        "larger than core, which has 100",
    ),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'drum'\nrevolution = '1ms'\n[memory]\nresidence = 'swapping'\ndevice = 'd'\nwords = 100\n[commands.x]\ncpu = '1s'\nimage_words = ▶'exponential(9)'",
        "max 100",
    ),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'drum'\nrevolution = '1ms'\n[memory]\nresidence = 'paging'\nframes = 9\nreplacement = ▶'equal'\nheadway_per_page = '1ms'\ndevice = 'd'\n[commands.x]\ncpu = '1s'",
        "add [multiprogramming] limit",
    ),
    (
        "title = 't'\nsource = 's'\n[multiprogramming]\nlimit = 3\n[storage.d]\nkind = 'drum'\nrevolution = '1ms'\n[memory]\nresidence = 'paging'\nframes = 2\nreplacement = ▶'equal'\nheadway_per_page = '1ms'\ndevice = 'd'\n[commands.x]\ncpu = '1s'",
        "cannot be shared by 3",
    ),
    ("title = 't'\nsource = 's'\n[multiprogramming]\nlimit = ▶0\n[commands.x]\ncpu = '1s'", "from 1 to"),
    (
        "title = 't'\nsource = 's'\n[multiprogramming]\nlimit = ▶3\ncontrol = 'working sets'\nmost = 4\n[commands.x]\ncpu = '1s'",
        "exclude each other",
    ),
    (
        "title = 't'\nsource = 's'\n[multiprogramming]\ncontrol = ▶'working sets'\nmost = 4\n[commands.x]\ncpu = '1s'",
        "residence = \"paging\"",
    ),
    ("title = 't'\nsource = 's'\n[multiprogramming]\n▶most = 4\n[commands.x]\ncpu = '1s'", "add control"),
    ("title = 't'\nsource = 's'\n▶[storage.d]\nrevolution = '1s'\n[commands.x]\ncpu = '1s'", "add kind"),
    ("title = 't'\nsource = 's'\n▶[storage.d]\nkind = 'drum'\n[commands.x]\ncpu = '1s'", "add revolution"),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'drum'\n▶units = 2\nrevolution = '1s'\n[commands.x]\ncpu = '1s'",
        "choose disk",
    ),
    (
        "title = 't'\nsource = 's'\n[storage.d]\nkind = 'drum'\nrevolution = '1s'\nsectors = 4\nwords_per_second = ▶9\n[commands.x]\ncpu = '1s'",
        "leave `words_per_second` out",
    ),
    ("title = 't'\nsource = 's'\n[storage]\n▶processor = { kind = 'drum' }\n[commands.x]\ncpu = '1s'", "cannot name a store"),
    (
        "title = 't'\nsource = 's'\n[supervisor]\ntable = { entries = 5, per_user = ▶6 }\n[commands.x]\ncpu = '1s'",
        "nobody could log in",
    ),
    ("title = 't'\nsource = 's'\n[supervisor]\nnetwork_message = ▶'1ms'\n[commands.x]\ncpu = '1s'", "add message_bytes"),
    ("title = 't'\nsource = 's'\n[supervisor]\npage_fault = { find = ▶3 }\n[commands.x]\ncpu = '1s'", "in a string"),
    ("title = 't'\nsource = 's'\n[tariff]\ncpu_hour = ▶3\nshifts = { 1 = 2 }\n[commands.x]\ncpu = '1s'", "exclude each other"),
    ("title = 't'\nsource = 's'\n▶[commands.x]\npages = 3", "or a route"),
    ("title = 't'\nsource = 's'\n[commands.x]\nlike = ▶'other'", "add a table [commands.other]"),
    ("title = 't'\nsource = 's'\n[commands.x]\nlike = 'y'\n[commands.y]\nlike = ▶'x'", "x is like y is like x"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nrequests = { ▶disk = 3 }", "add a table [storage.disk]"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nnetwork_wait = { ▶ucla = '3ms' }", "add a table [storage.ucla]"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nnice = ▶20", "from -20 to 19"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nprogram = ▶' '", "cannot name a program"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nprogram = ▶3", "a string"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\nnetwork_bytes = ▶'argument(0)'", "argument(1)"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = ▶'1s'\nroute = [{ at = 'processor', service = '1s' }]", "replaces"),
    ("title = 't'\nsource = 's'\n[commands.x]\nroute = [▶{ at = 'processor', service = '1s', then = { 0 = 1 } }]", "never ends"),
    (
        "title = 't'\nsource = 's'\n[commands.x]\nroute = [{ at = 'processor', service = '1s', then = ▶{ 0 = 0.5, done = 0.4 } }]",
        "add up to 0.9",
    ),
    (
        "title = 't'\nsource = 's'\n[commands.x]\nroute = [{ at = 'processor', service = '1s', then = { ▶7 = 1 } }]",
        "there is no stage `7`",
    ),
    (
        "title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[[load]]\nusers = 3\ncommands = [▶'y']",
        "no entry covers the command `y`",
    ),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n▶[[load]]\nname = 'a'", "add users = 50"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '0s'\n▶[[load]]\nusers = 3", "time would never pass"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[[load]]\narrivals = ▶'often'", "2/s"),
    ("title = 't'\nsource = 's'\nfit = ▶3\n[commands.x]\ncpu = '1s'", "a table"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[fit]\n▶covarance = []", "did you mean `covariance`?"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[fit]\nusers = [▶'5']", "a list of whole numbers"),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[fit]\nparameters = [▶{ value = '1s' }]", "add key = "),
    ("title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[fit]\nparameters = [▶{ key = 'commands.x.cpu' }]", "add value = "),
    (
        "title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[fit]\nparameters = [{ key = 'k', value = '1s', of = ▶'mode' }]",
        "write of = \"mean\"",
    ),
    (
        "title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[fit]\nparameters = [{ key = 'k', value = '1s' }]\ncovariance = ▶[[1, 2]]",
        "here 1 of each",
    ),
    (
        "title = 't'\nsource = 's'\n[commands.x]\ncpu = '1s'\n[fit]\nparameters = [{ key = 'k', value = '1s' }]\ncovariance = ▶[[-1]]",
        "nowhere negative",
    ),
];
