"""Varve, other memory systems and a plain search, measured one after the other in one run, on the same texts and the same embedding model.

Each system runs in a worker process with the Python environment of that system. The worker imports no package of Varve except for the
embedding model, unless it measures Varve itself.
"""
