"""The published documents run again on simulated machines: their figures and ours, side by side."""
