"""Benchmarks of quality and cost, on published data sets that the caller provides."""
