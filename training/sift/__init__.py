"""Training of the proxy model of ``mode=sift`` (MemSifter 3.3 and 3.4)."""
