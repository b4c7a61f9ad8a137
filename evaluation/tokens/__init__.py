"""How many tokens one-pass extraction costs, against other ways to extract the same.

Start at :mod:`evaluation.tokens.command`.
"""
