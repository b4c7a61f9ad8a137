"""TIME_COMPRESS: topic timelines whose older events are summarised and dropped (VikingMem 3.2).

Start at :mod:`operators.timeline.compress`.
"""
