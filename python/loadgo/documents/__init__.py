"""Documents without a format: words, tables, pictures and charts. A renderer for each format writes them."""
