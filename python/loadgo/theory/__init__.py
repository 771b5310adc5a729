"""Exact and asymptotic results: queues, networks of queues, bounds, the scalability law."""
