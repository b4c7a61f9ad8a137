"""The data sets that ``compare`` reads, one module per format."""
