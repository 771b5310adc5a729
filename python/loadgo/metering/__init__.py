"""The host metered without a load, and the exporters of its meters."""
