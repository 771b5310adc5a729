"""The ready message of one command: what each of its runs used."""
