"""Sweeps: a grid of simulated points, computed by any executor, in parts or as a whole, and kept as Parquet."""
