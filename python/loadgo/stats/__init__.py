"""Statistics that know nothing of runs: resampling, intervals, quantiles, factors, Shapley values."""
