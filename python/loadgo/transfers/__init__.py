"""The cost of moving data over a network: transfers, their tables, and programs that move data."""
