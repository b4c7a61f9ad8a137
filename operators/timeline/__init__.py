"""TIME_COMPRESS: topic timelines whose older events are summarised and dropped (VikingMem 3.2)."""
