"""The word classes of plain statements. To teach the extractor a word, add it to its list."""
