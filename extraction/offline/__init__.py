"""Extraction without an LLM: by rule and embedding.

Start at :mod:`extraction.offline.extractor`, then :mod:`extraction.offline.drafting`, which calls every part; facts about a person begin in
:mod:`extraction.offline.facts.profile_facts`. A message is cut into sentences (``grammar/``), judged (``factuality/``), put into plain
words (``rewriting/``, ``implied/``), and read (``grammar/``, ``facts/``).
"""
