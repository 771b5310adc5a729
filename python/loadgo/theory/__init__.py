"""Exact and asymptotic results: a closed station, networks of queues, bounds, the scalability law."""
