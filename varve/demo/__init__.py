"""``varve demo``: a conversation through the whole of Varve, and questions to its memories.

Start at :mod:`varve.demo.run`.
"""
