"""Partition tasks: what processes and commits the records of one partition."""
