"""Interleaved experiments: two variants are run in turn, pair by pair, until the difference between them is known."""
