"""``python -m evaluation compare``: memory methods on the same conversations (Memory in the LLM Era, section 8).

Start at :mod:`evaluation.compare.command`.
"""
