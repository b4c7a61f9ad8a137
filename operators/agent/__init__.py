"""AGENT: a block of text that a model edits with memory tools, in a bounded loop.

Start at :mod:`operators.agent.agent`.
"""
