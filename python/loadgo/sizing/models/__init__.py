"""Models of the measured points of a capacity: bounds, exact mean values and the scalability law."""
