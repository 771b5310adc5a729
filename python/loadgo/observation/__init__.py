"""Scripts made from records of what a host's own users did: process accounting, and shell histories with times."""
