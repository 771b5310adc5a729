"""Where the tests and the project are."""

from pathlib import Path

TESTS = Path(__file__).parent.parent
PROJECT = TESTS.parent
