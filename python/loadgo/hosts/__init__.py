"""Other hosts, reached by ssh: an agent is brought there, asked, and ended."""
