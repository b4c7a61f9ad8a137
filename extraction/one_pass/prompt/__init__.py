"""The prompt: a fixed prefix, then the parts that change, each within its cap.

Start at :mod:`extraction.one_pass.prompt.build`.
"""
