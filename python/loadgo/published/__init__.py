"""The published documents as data, and the places where they contradict themselves."""
