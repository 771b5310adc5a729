"""The face of simulations: what is asked, what is told, as text and JSON, and what is refused."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import unicodedata
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import Mistake, Refused
from loadgo.notation.figures import digits, seconds
from loadgo.reporting.simulation import simulation_document, simulation_json
from loadgo.running.simulation import ClassResponses, SimulatedFigure, Simulation, little_audit, simulate_text, sweep
from support.model_machines import central_server, open_queue, processors, repairman, terminals


def test_a_simulation_goes_on_until_it_is_as_precise_as_asked(tmp_path: Path) -> None:
    file = tmp_path / "terminals.toml"
    file.write_text(repairman(34, "exponential(0.3s)"))
    simulation = loadgo.simulate(file, until="precision(mean)=2%, precision(p90)=3%")
    assert simulation.end == "precision"
    assert simulation.response_s.relative is not None
    assert simulation.response_s.relative <= 0.02
    assert simulation.all.p90_s.relative is not None
    assert simulation.all.p90_s.relative <= 0.03
    assert simulation.interactions >= 20_000
    assert simulation.response_s.value == pytest.approx(1.5222, rel=0.03)


def test_users_and_values_of_the_file_can_be_changed() -> None:
    text = repairman(34, "exponential(0.3s)")
    usual, fewer = (
        simulate_text(text, until="interactions=20000"),
        simulate_text(text, users=10, until="interactions=20000"),
    )
    faster = simulate_text(text, until="interactions=20000", set=["processors.speed=2"])
    assert usual.all.users == 34
    assert fewer.all.users == 10
    responses = [told.response_s.value or 0.0 for told in (faster, fewer, usual)]
    assert responses[0] < responses[2]
    assert responses[1] < responses[2]


def test_streams_together_are_more_precise_and_the_same_each_time() -> None:
    text = central_server(36)
    one = simulate_text(text, until="interactions=30000")
    four = [simulate_text(text, until="interactions=120000", streams=4) for _ in range(2)]
    assert four[0].response_s == four[1].response_s
    assert (four[0].response_s.half_width or 1.0) < (one.response_s.half_width or 0.0)
    assert four[0].interactions == 120_000


def test_a_sweep_tells_each_in_its_place_on_any_number_of_threads() -> None:
    asked = [(central_server(users), seed) for users in (5, 50) for seed in (1, 2, 3)]
    one, three = (sweep(asked, until="interactions=5000", threads=threads) for threads in (1, 3))
    assert [told.response_s for told in one] == [told.response_s for told in three]
    assert [told.all.users for told in one] == [5, 5, 5, 50, 50, 50]
    assert one[3].response_s == simulate_text(central_server(50), until="interactions=5000", seed=1).response_s


def test_the_text_fits_eighty_columns_and_names_what_it_tells() -> None:
    simulation = simulate_text(central_server(50), until="interactions=100000")
    text = simulation.report(width=80)
    assert max(map(len, text.splitlines())) <= 80
    text = " ".join(text.split())
    for word in (
        "a queueing model",
        "Simulated with 50 users: ",
        "100,000 interactions: ",
        "all, 50 users",
        "processors",
        "disk",
        "idle: nothing to run",
    ):
        assert word in text
    assert "Little's law holds" in text
    assert "few: the simulation has too few interactions for the figure and its interval" in text


def test_a_quantile_that_is_short_has_the_length_that_it_needs() -> None:
    text = central_server(50)
    short = simulate_text(text, until="interactions=20000")
    note = few_meaning(short)
    assert short.all.p90_s.value is None
    needed = int(re.search(r"p90 ([\d,]+)", note)[1].replace(",", ""))  # type: ignore[index]
    assert needed == 45_000
    longer = simulate_text(text, until=f"interactions={needed}")
    assert longer.all.p90_s.value is not None
    assert "p90" not in few_meaning(longer)


def few_meaning(simulation: Simulation) -> str:
    """The line that explains `few` below the table of interactions; empty if no figure lacks."""
    text = simulation.report(width=200)
    return "".join(line for line in text.splitlines() if line.startswith("few: "))


def test_half_the_interval_of_a_share_is_in_points_and_all_others_in_per_cent_of_their_figures() -> None:
    simulation = simulate_text(central_server(50), until="interactions=20000")
    disk = simulation.station("disk")
    text = simulation.report(width=100)
    points = f"{digits(100 * disk.utilisation.half_width)} points"
    assert f"±{points}" in text
    assert f"±{digits(100 * disk.queue.relative)} %" in text
    categories = text[text.index("Time of processors") :]
    user = f"{digits(100 * simulation.time['user'].half_width)} points"
    assert user in categories
    assert "idle: waiting for the disk" in categories, "no name is cut"


def test_a_run_that_did_not_reach_its_precision_says_so() -> None:
    simulation = simulate_text(central_server(50), until="interactions=25000, precision(mean)=0.1%")
    assert simulation.end == "most"
    assert "NOT reached" in simulation.report(width=80)
    assert "was NOT reached." in simulation_document(simulation).warnings[0]


def test_the_answer_has_the_throughput_the_response_and_the_busiest_station() -> None:
    simulation = simulate_text(central_server(50), until="interactions=20000")
    busiest = max((at for at in simulation.stations if at.utilisation), key=lambda at: at.utilisation.value)
    answer = simulation_document(simulation).answer
    assert answer.startswith(f"Simulated with 50 users: {digits(simulation.throughput.value)} interactions a second (±")
    assert f"mean response {seconds(simulation.response_s.value)} (±" in answer
    assert f"{busiest.name} {digits(100 * busiest.utilisation.value)} % busy" in answer
    assert simulation_document(simulation).warnings == ()
    none = simulate_text(repairman(3, "exponential(0.1s)"), until="interactions=1")
    assert simulation_document(none).answer.startswith("Simulated with 3 users: ")


def test_json_has_every_figure_with_its_interval() -> None:
    simulation = simulate_text(central_server(50), until="interactions=20000")
    document = json.loads(simulation_json(simulation))
    assert document["all"]["mean_s"] == {
        "value": simulation.response_s.value,
        "half_width": simulation.response_s.half_width,
        "lacking": None,
    }
    assert document["all"]["p99_s"]["value"] is None
    assert document["all"]["p99_s"]["lacking"].startswith("too few")
    assert [station["name"] for station in document["stations"]] == ["processors", "disk"]
    assert document["seed"] == 1
    assert document["interactions"] == 20_000


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"until": "precision(p90)=2"}, "such as 2%"),
        ({"until": "forever"}, "write interactions=1e6"),
        ({"streams": 0}, "at least 1"),
        ({"users": 0}, "at least 1"),
    ],
)
def test_what_makes_no_sense_is_said(asked: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        simulate_text(central_server(10), **asked)  # type: ignore[arg-type]


def test_users_of_several_classes_are_not_guessed() -> None:
    two = terminals(3, "transaction", name="a") + terminals(4, "transaction", name="b")
    with pytest.raises(ValueError, match="2 classes"):
        simulate_text(central_server(7, load=two), users=9)
    with pytest.raises(ValueError, match="come and go"):
        simulate_text(open_queue(0.5, "1s"), users=9)


def test_a_mistake_in_a_file_has_its_place() -> None:
    with pytest.raises(Mistake, match="line"):
        simulate_text(central_server(10).replace("service", "servise", 1))


@pytest.mark.long
def test_a_load_that_can_never_be_served_is_refused() -> None:
    with pytest.raises(Refused):
        simulate_text(open_queue(1.5, "exponential(1s)"))


@pytest.mark.parametrize("studied", ["one", "sweep"])
def test_a_signal_ends_a_simulation_that_would_take_hours(studied: str) -> None:
    class Rung(Exception):
        pass

    def ring(*_: object) -> None:
        raise Rung

    endless = {
        "one": lambda: simulate_text(central_server(50), until="interactions=1e12", streams=2),
        "sweep": lambda: sweep([(central_server(50), seed) for seed in range(4)], until="interactions=1e12"),
    }
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Rung):
            endless[studied]()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


OVERLOADED = """
title = "twice as many as can be served"
source = "a test"
[commands."*"]
cpu = "exponential(1s)"
[[load]]
arrivals = "2/s"
"""

IDLE_STORE = """
[storage.idle]
kind = "server"
service = "1ms"
"""


def starved() -> str:
    """A machine that never serves one of five users: the processor prefers the other four, and they keep it busy."""
    high = terminals(4, "first", 0.01, name="first").replace("exponential(0.01s)", "1ms")
    return f"""title = "starved"
source = "a test"
{processors(1, "priority")}
[commands.first]
cpu = "exponential(1s)"
[commands.last]
cpu = "exponential(1s)"
priority = 9

{high}
{terminals(1, "last", 1, name="last")}"""


def test_a_store_that_nobody_asks_has_no_response_and_says_why() -> None:
    simulation = simulate_text(repairman(3, "exponential(0.1s)") + IDLE_STORE, until="interactions=3000")
    idle = simulation.station("idle")
    assert idle.requests is not None
    assert idle.requests.value == 0.0
    assert idle.response_s is not None
    assert idle.response_s.value is None
    assert str(idle.response_s.lacking).startswith("none")
    line = next(line for line in simulation.report(width=80).splitlines() if line.startswith("idle "))
    assert line.endswith("–")
    data = json.loads(simulation_json(simulation), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["stations"][1]["response_s"]["value"] is None


def test_an_overloaded_queue_is_not_steady_and_breaks_no_law() -> None:
    simulation = simulate_text(OVERLOADED, until="interactions=30000")
    assert simulation.little is not None
    assert simulation.little.verdict == "not steady"
    text = " ".join(simulation.report(width=80).split())
    assert "more commands come than are served" in text


def test_a_user_whom_others_keep_from_the_processor_breaks_no_law() -> None:
    simulation = simulate_text(starved(), until="interactions=20000")
    assert simulation.little is not None
    assert simulation.little.counted - simulation.little.computed > 0.5, (
        "one command is in hand all the time and not answered"
    )
    assert simulation.little.verdict == "not steady"


def test_a_short_run_of_users_who_all_wait_is_too_short_and_not_an_overload() -> None:
    runs = [
        simulate_text(repairman(200, "exponential(0.3s)"), until="interactions=1000", seed=seed) for seed in range(1, 9)
    ]
    verdicts = {told.little.verdict for told in runs if told.little}
    assert verdicts <= {"holds", "too short to tell"}
    assert "too short to tell" in verdicts


def figures(response_s: float) -> ClassResponses:
    exact = [SimulatedFigure(response_s, 0.0)] * 5
    return ClassResponses("all", None, SimulatedFigure(2.0, 0.0), *exact)


@pytest.mark.parametrize(
    ("counted", "overfull", "seconds", "verdict"),
    [
        (2.0, 0.0, 1e6, "holds"),
        (3.0, 0.0, 1e6, "broken"),
        (1.0, 5.0, 1e6, "broken"),
        (3.0, 0.5, 1e6, "broken"),
        (3.0, 2.0, 1e6, "not steady"),
        (2.2, 0.0, 10.0, "too short to tell"),
    ],
)
def test_only_what_neither_ends_nor_full_queues_explain_breaks_the_law(
    counted: float, overfull: float, seconds: float, verdict: str
) -> None:
    """Two interactions a second of 1 s each are 2 users."""
    audit = little_audit(SimulatedFigure(counted, 0.01), figures(1.0), overfull, seconds)
    assert audit is not None
    assert audit.verdict == verdict


def test_a_title_that_a_terminal_would_obey_does_not_reach_it() -> None:
    text = repairman(3, "exponential(0.1s)").replace("a queueing model", r"a\u001b[31m\u0007\u0000\u009b\u202ez")
    simulation = simulate_text(text, until="interactions=3000")
    for written in (simulation.report(width=80), simulation_json(simulation)):
        assert not [sign for sign in written if sign != "\n" and unicodedata.category(sign) in ("Cc", "Cf")]
    assert json.loads(simulation_json(simulation))["title"] == "a\x1b[31m\x07\x00\x9b\u202ez"


def test_a_title_of_any_length_is_one_line() -> None:
    text = repairman(3, "exponential(0.1s)").replace("a queueing model", "x" * 100_000)
    told = simulate_text(text, until="interactions=3000").report(width=200)
    assert "x" * 199 + "…" in told.splitlines()


def test_a_run_of_one_interaction_has_columns_apart() -> None:
    text = simulate_text(repairman(3, "exponential(0.1s)"), until="interactions=1").report(width=80)
    assert "\n1 interaction: " in text
    assert text.count(" few") >= 6
    assert "too short a run to tell" in text


def test_an_interval_of_rounding_alone_is_shown_as_none() -> None:
    text = 'title="t"\nsource="s"\n[commands.a]\ncpu="1s"\n[[load]]\nusers=1\nthink="1s"\n'
    shown = simulate_text(text, until="interactions=3000").report(width=80)
    assert "0.0000" not in shown
    assert " ." not in shown


@pytest.mark.parametrize("asked", [["simulate", "FILE", "--until", "interactions=100"], ["machines"]])
def test_a_closed_output_is_said_in_words(asked: list[str], tmp_path: Path) -> None:
    file = tmp_path / "m.toml"
    file.write_text(repairman(3, "exponential(0.1s)"))
    words = [str(file) if word == "FILE" else word for word in asked]
    closed = ["sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "loadgo", *words]
    ended = subprocess.run(closed, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert "standard output is closed" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_that_is_none_is_refused_in_words(seed: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        simulate_text(central_server(5), until="interactions=1000", seed=seed)
