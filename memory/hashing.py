"""The hash by which a recalled text is known again when the conversation echoes it."""

import hashlib


def content_hash(text: str) -> str:
    """SHA-256 (hex) of a text in UTF-8, runs of white space taken as one blank and none at the ends."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()
