"""The result of a capacity search in every format: its answer in words, tables, text plots and charts."""
