"""Scripts made from records of what a host's own users did: accounting, histories, and logs of terminals and audits."""
