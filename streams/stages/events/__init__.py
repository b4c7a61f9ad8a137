"""The events stage: extractions in, memories and contributions out."""
