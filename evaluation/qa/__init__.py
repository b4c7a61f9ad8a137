"""Questions answered from what Varve remembers, and judged: the benchmark that papers on memory report.

Start at :mod:`evaluation.qa.command`.
"""
