"""What is shown, without its format: pages, tables, charts; and the renderers of each format."""
