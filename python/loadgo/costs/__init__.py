"""Costs of runs at a tariff: one run, the curve over the load, and whether a price is fair."""
