"""The offline segmenter on dialogues with known segments.

Start at :mod:`evaluation.segmentation.command`.
"""
