"""Extraction by one LLM call a window.

Start at :mod:`extraction.one_pass.extractor`; :mod:`extraction.one_pass.flow` has the calls, ``prompt/`` and ``answer/`` their two sides.
"""
