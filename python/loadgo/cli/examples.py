"""Two examples for the head of each command's help. A test reads each with the parser of its command."""

from __future__ import annotations

COMMAND_EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "run": (
        ("twenty users of this host", "loadgo run typical-user --users 20 --think 'uniform(0.5s, 3s)'"),
        ("five minutes, and a threshold", "loadgo run typical-user --users 8 --for 5min --fail-if 'p90 > 2s'"),
    ),
    "report": (
        ("the last run, with charts", "loadgo report --format html"),
        ("another run, as a check", "loadgo report RUN --fail-if 'p90(compile) > 1s'"),
    ),
    "runs": (
        ("the last runs", "loadgo runs"),
        ("all, for a spreadsheet", "loadgo runs --format csv -o runs.csv"),
    ),
    "ready": (
        ("a command once", "loadgo ready -- sort /etc/services"),
        ("ten times, with intervals", "loadgo ready -n 10 --quiet-output -- ls -lR /usr/share"),
    ),
    "record": (
        ("your own session", "loadgo record mine.toml"),
        ("a session from asciinema", "loadgo record mine.toml --from-cast session.cast"),
    ),
    "observe": (
        ("this host's sessions, as root", "loadgo observe --for 2h -o monday.toml"),
        ("from process accounting", "loadgo observe --from /var/log/account/pacct -o monday.toml"),
    ),
    "likeness": (
        ("the last run", "loadgo likeness monday.toml"),
        ("as a page with charts", "loadgo likeness monday.toml RUN --format html"),
    ),
    "completions": (
        ("for bash: then `. ./complete.sh`", "loadgo completions bash -o complete.sh"),
        ("for fish, from the next one on", "loadgo completions fish -o ~/.config/fish/completions/loadgo.fish"),
    ),
    "man": (
        ("for `man loadgo` from now on", "loadgo man ~/.local/share/man/man1"),
        ("to read one at once", "loadgo man /tmp/pages"),
    ),
    "doctor": (
        ("what is missing here", "loadgo doctor"),
        ("how everything is measured", "loadgo doctor --full"),
    ),
    "query": (
        ("of the last run", "loadgo query 'SELECT command, count(*) FROM interactions GROUP BY command'"),
        ("of another, as CSV", "loadgo query 'SELECT * FROM lost' RUN --format csv"),
    ),
    "ab": (
        ("does one processor less matter?", "loadgo ab light --users 4 --limit-b cpus=1"),
        ("before and after a setting", "loadgo ab light --before-b 'sync' --time-limit 10min"),
    ),
    "compare": (
        ("two runs", "loadgo compare RUN-A RUN-B"),
        ("against several, as a check", "loadgo compare OLD-1,OLD-2,OLD-3 last --worse 5%"),
    ),
    "verify": (
        ("the last run, with the disclosure sheet", "loadgo verify --full"),
        ("sign a run that holds", "loadgo verify night --sign ~/.ssh/id_ed25519"),
    ),
    "history": (
        ("over all runs", "loadgo history 'p90(compile)'"),
        ("one folder, as a page", "loadgo history errors --runs nightly --format html"),
    ),
    "lab": (
        ("the runs here", "loadgo lab"),
        ("another folder, at a port", "loadgo lab nightly --port 8000"),
    ),
    "speedup": (
        ("a change of a machine", "loadgo speedup light --on ctss --change processors.speed=2"),
        ("between two machines", "loadgo speedup light --on multics-645 --to multics-6180 --users 8"),
    ),
    "capacity": (
        ("of this host", "loadgo capacity light --target 'p90 < 2s' --max-users 40"),
        ("of a simulated machine", "loadgo capacity typical-user --on multics-645 --target 'p90 < 30s'"),
    ),
    "fit": (
        ("the last run", "loadgo fit -o here.toml"),
        ("several runs, with a page", "loadgo fit RUN-A RUN-B -o here.toml --format html"),
    ),
    "transfer": (
        ("the end that waits", "loadgo transfer serve --listen 127.0.0.1:3920"),
        ("the end that sends", "loadgo transfer --to 127.0.0.1:3920 --size 64MB --method all"),
    ),
    "cost": (
        ("the last run", "loadgo cost"),
        ("several loads, in a tariff of 1973", "loadgo cost RUN-A RUN-B --tariff multics-645-1973"),
    ),
    "machines": (
        ("all machines", "loadgo machines"),
        ("the file of one, to change it", "loadgo machines multics-645 > mine.toml"),
    ),
    "scripts": (
        ("all scripts", "loadgo scripts"),
        ("one, to change it", "loadgo scripts typical-user > mine.toml"),
    ),
    "schema": (
        ("all formats", "loadgo schema"),
        ("one, for a validator", "loadgo schema compare > compare.schema.json"),
    ),
    "simulate": (
        ("a file with a load of its own", "loadgo simulate mine.toml --until 'precision(p90)=2%'"),
        ("with a faster processor", "loadgo simulate mine.toml --users 20 --set processors.speed=2"),
    ),
    "sweep": (
        ("on all processors of this host", "loadgo sweep grid.toml"),
        ("one part of forty, for a batch system", "loadgo sweep grid.toml --part 3/40 --out parts/3"),
    ),
    "merge": (
        ("all parts", "loadgo merge parts/*"),
        ("as a page with a chart", "loadgo merge parts/* --out whole --format html"),
    ),
    "reproduce": (
        ("all documents", "loadgo reproduce"),
        ("one, as a page", "loadgo reproduce csr-rfc-20 --format html"),
    ),
    "watch": (
        ("this host", "loadgo watch"),
        ("a run again, in this terminal", "loadgo watch last --terminal --speed 10"),
    ),
    "meter": (
        ("this host for ten seconds", "loadgo meter --for 10s"),
        ("a command, each system call", "loadgo meter --meters exact -- tar -cf /dev/null /usr/share"),
    ),
    "profile": (
        ("this host, as a flame graph", "loadgo profile --for 10s --format html"),
        ("a command", "loadgo profile -- python3 -c 'sum(range(10**8))'"),
    ),
}
"""Examples by command, each with a word about its purpose. RUN stands for a run's folder or id."""


def with_examples(name: str, help_text: str) -> str:
    """The help of the command `name`, with its examples in a paragraph of their own."""
    lines = [f"  {example}\n      {purpose}" for purpose, example in COMMAND_EXAMPLES.get(name, ())]
    return "\n\n".join([help_text, "\n".join(["Examples:", *lines])]) if lines else help_text
