"""Benchmarks of speed: what they report is a ratio against a baseline of the same run."""
