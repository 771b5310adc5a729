"""What moving data over a network costs a host: transfers, their tables, and programs that move data."""
