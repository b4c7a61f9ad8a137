"""LINK and EDGE: notes that are linked with each other, and the edges of a knowledge graph."""
