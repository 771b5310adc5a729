"""Lists in every format: the recorded runs, the abilities of a host, and what is bundled."""
