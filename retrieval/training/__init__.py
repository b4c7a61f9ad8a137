"""Training data for a ranking: what recalls keep of it, and what is fitted to it.

Start at :mod:`retrieval.training.training`.
"""
