"""Retries, suspects, deferred records, dead letters and lost data."""
