"""The charts of a report, with their data."""
