"""The search for a number of users: trials, their checks, the crossing, and the next trial."""
