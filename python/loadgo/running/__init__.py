"""Runs of scripts and commands, on this host or on a simulated machine."""
