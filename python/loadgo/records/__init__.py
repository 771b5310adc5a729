"""Run folders: finding, reading, querying and following them."""
