"""Rewrites what people write into the plain statements that the grammar reads: typos, openers, short answers, word order."""
