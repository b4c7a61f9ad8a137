"""LongMemEval: which sessions a recall finds."""
