"""Contents, costs and retrieval quality of a model's extraction of LoCoMo.

Start at :mod:`evaluation.extraction.command`.
"""
