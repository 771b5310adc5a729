"""Runs on other hosts, and users who are driven from other hosts: the agents, their records, and the run folders."""
