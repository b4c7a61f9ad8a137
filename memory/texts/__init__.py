"""Texts: terms and words, scripts and languages, regular expressions, and text that is safe to show."""
