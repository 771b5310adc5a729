"""The report of one run: its sentences, tables and charts, in every format."""
