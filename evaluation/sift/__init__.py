"""Sift: which gold sessions its coarse filter keeps.

Start at :mod:`evaluation.sift.command`.
"""
