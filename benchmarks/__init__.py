"""Performance benchmarks. They report ratios to a baseline of the same run."""
