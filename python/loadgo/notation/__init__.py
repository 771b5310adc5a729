"""Reading and writing of values: spans, rates, laws, and figures with units."""
