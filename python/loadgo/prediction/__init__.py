"""Runs of a fitted machine with its parameters drawn again, which give predictions their intervals."""
