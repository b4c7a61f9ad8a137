"""Sift: which gold sessions its coarse filter keeps."""
