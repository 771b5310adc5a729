"""Clock profiles of the host, a command or a run, and their file formats."""
