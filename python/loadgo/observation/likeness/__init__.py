"""How like what was observed a run of an observed script is: figures of both, with intervals."""
