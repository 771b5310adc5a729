"""Compliance of a recorded run: its files, its records, the rules of validity, and a disclosure sheet."""
