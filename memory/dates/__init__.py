"""Dates in texts: words, readings, mentions."""
