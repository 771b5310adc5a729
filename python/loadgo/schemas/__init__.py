"""The published JSON Schemas of what `--format json` prints."""
