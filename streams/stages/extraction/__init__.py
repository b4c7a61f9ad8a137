"""The extraction stage: windows in, extractions out."""
