"""How values are read and written: spans, rates, laws, and figures with units."""
