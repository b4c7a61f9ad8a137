"""Evaluation of trained proxies: next to other rankings, and without one part each."""
