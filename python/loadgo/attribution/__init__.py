"""A speed-up attributed to the changes that caused it, by log-Shapley."""
