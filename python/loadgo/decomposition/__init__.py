"""A ratio of two measurements as factors: parts, chains of meters, independent estimates, waterfalls."""
