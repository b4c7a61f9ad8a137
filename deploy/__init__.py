"""Deployment of Varve. ``python -m deploy.generate`` writes the files that follow from the code, and a test compares them."""
