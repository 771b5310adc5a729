"""Whether `loadgo capacity` is right on a busy host: searches beside neighbours against long searches on a quiet one.

    python bench/bench_capacity_live.py quiet RESULT.json             # long searches; run them on a quiet host
    python bench/bench_capacity_live.py busy RESULT.json [SEARCHES]   # 20 searches beside neighbours, judged by these

Three scripts take turns. Two have a limit below the host's processors, so that neighbours slow them little. The third
competes with the neighbours for both processors. The neighbours are two programs, each with a seed of its own, that
take a processor at random, half of the time. A search *agrees* if its range meets that of the quiet search, or if its
prediction or its bounds for a quiet host do. Neighbours slow users down, so a busy host holds fewer: such a range is
*lower* if the answer names the other work. Every other answer is *false*.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import loadgo
from figures import figure, finish
from machine import beside, machine

SEARCHES = 20
NEIGHBOUR = """
import random, sys, time
chance = random.Random(int(sys.argv[1]))
while True:
    end = time.monotonic() + chance.expovariate(1 / 6)
    while time.monotonic() < end:
        pass
    time.sleep(chance.expovariate(1 / 6))
"""


@dataclass(frozen=True)
class Question:
    """A search: its script, target and limits."""

    name: str
    line: str
    target: str
    limit: str | None
    max_users: int

    def ask(self, folder: Path, *, shortest: str, longest: str, trials: int, seed: int) -> dict[str, object]:
        """The answer of one search, as it is recorded."""
        folder.mkdir(parents=True)
        script = folder / f"{self.name}.toml"
        login = '"bash --norc --noprofile"'
        script.write_text(
            f'name = "{self.name}"\nlogin = {login}\nthink = "exponential(1s)"\nlines = [{json.dumps(self.line)}]\n'
        )
        capacity = loadgo.capacity(
            script,
            target=self.target,
            max_users=self.max_users,
            limit=self.limit,
            shortest=shortest,
            longest=longest,
            trials=trials,
            seed=seed,
            out=folder / "trials",
        )
        around, quiet = capacity.neighbours, capacity.neighbours and capacity.neighbours.quiet
        return {
            "question": self.name,
            "seed": seed,
            "in_words": capacity.in_words,
            "answer": capacity.answer,
            "interval": capacity.interval,
            "confidence": capacity.confidence,
            "quiet": None if quiet is None else (quiet.low, quiet.high),
            "neighbours": None if around is None else (around.mean, around.least, around.most),
            "trials": capacity.trials,
            "seconds": capacity.seconds,
        }


QUESTIONS = (
    Question("spin", "for ((i = 0; i < 30000; i++)); do :; done", "p90 < 800ms", "cpus=0.5", 32),
    Question("sort", "seq 30000 | sort -R | md5sum", "mean < 400ms", "cpus=1", 64),
    Question("start", "python3 -c 'import json, decimal'", "p90 < 250ms", None, 96),
)


def main() -> None:
    """Makes the long searches, or those beside neighbours and their figures."""
    phase, stored_answers = sys.argv[1], Path(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else SEARCHES
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-searches-") as place:
        if phase == "quiet":
            answers = [
                question.ask(Path(place) / question.name, shortest="20s", longest="60s", trials=14, seed=100)
                for question in QUESTIONS
            ]
            stored_answers.write_text(json.dumps(answers, indent=1))
            for answer in answers:
                print(answer["in_words"])
            return
        truths = json.loads(stored_answers.read_text())
        with beside([(NEIGHBOUR, "14"), (NEIGHBOUR, "41")]):
            answers = []
            for number in range(count):
                question = QUESTIONS[number % len(QUESTIONS)]
                ask = question.ask(Path(place) / str(number), shortest="10s", longest="15s", trials=8, seed=number)
                answers.append(ask)
                truth = next(truth for truth in truths if truth["question"] == question.name)
                ask["verdict"] = _verdict(ask, truth)
                print(number, question.name, ask["verdict"], ask["in_words"], flush=True)
                stored_answers.with_suffix(".busy.json").write_text(json.dumps(answers, indent=1))
    verdicts = [answer["verdict"] for answer in answers]
    known = [answer["interval"] is not None for answer in answers]
    figures = [
        figure("searches with a number or a range", "", [sum(known) / count], ">= 1"),
        figure("searches that agree with the quiet search", "", [verdicts.count("agrees") / count], ">= 0.9"),
        figure("searches that are lower, and name the other work", "", [verdicts.count("lower") / count]),
        figure("false searches", "", [verdicts.count("false") / count], "<= 0"),
    ]
    finish("capacity_live", here, figures, [f"{count} searches"], {"quiet": truths, "busy": answers})


def _verdict(answer: dict, truth: dict) -> str:
    """`agrees`, `lower` or `false`: how the answer of a search stands to that of the long quiet search."""
    low, high = truth["interval"]
    ranges = [found for found in (answer["interval"], answer["quiet"]) if found is not None]
    if any(least <= high and (most is None or most >= low) for least, most in ranges):
        return "agrees"
    is_lower = bool(ranges) and all(most is not None and most < low for _, most in ranges)
    return "lower" if is_lower and "other work took" in str(answer["in_words"]) else "false"


if __name__ == "__main__":
    main()
