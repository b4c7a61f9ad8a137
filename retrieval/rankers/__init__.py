"""Rankers, one a module: each scores the candidates of a query in its own way.

Start at :mod:`retrieval.rankers.base`.
"""
