"""Benchmarks of quality and cost, on published data sets that the caller provides.

Start at :mod:`evaluation.__main__`, which lists the commands; each has a package or a module.
"""
