"""Machine files made from runs: what each command needs, and how certain that is."""
