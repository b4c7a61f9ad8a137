"""The truth of extraction, measured on invented sentences: plain statements, and sentences that only look like them.

Start at :mod:`evaluation.facts.command`.
"""
