"""LongMemEval: which sessions a recall finds.

Start at :mod:`evaluation.longmemeval.command`.
"""
