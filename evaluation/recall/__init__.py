"""How much of LoCoMo's evidence a recall finds, and the fit of the ranking model to it.

Start at :mod:`evaluation.recall.command`.
"""
