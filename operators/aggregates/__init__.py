"""Operators that compute a value from numbers, times or recalls: sums, newest and most frequent values, heat, strength."""
