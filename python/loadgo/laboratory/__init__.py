"""The page of a laboratory: its runs in a list, their reports, comparisons, experiments and histories."""
