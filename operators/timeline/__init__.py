"""TIME_COMPRESS: topic timelines whose older events are summarised, and let go (VikingMem 3.2)."""
