"""Loads a machine with users who type, and tells how many it holds, what each interaction costs, and where the time goes."""
