"""Interleaved experiments: two variants are run in turn, pair by pair, until it is known how they differ."""
