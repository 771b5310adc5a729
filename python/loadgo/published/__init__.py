"""The published documents as data, and where they contradict themselves."""
