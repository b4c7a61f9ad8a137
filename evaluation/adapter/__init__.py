"""Fits the adapter of the embedded model to questions about conversations.

Start at :mod:`evaluation.adapter.command`.
"""
