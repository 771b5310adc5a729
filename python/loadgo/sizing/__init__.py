"""How many users a system holds: the search, its trials, and models of the measured points."""
