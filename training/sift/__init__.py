"""Training and evaluation of the proxy model of ``mode=sift`` (MemSifter 3.3, 3.4 and 4)."""
