"""The offline segmenter on dialogues with known segments."""
