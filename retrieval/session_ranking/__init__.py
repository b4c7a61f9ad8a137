"""Think and rank (MemSifter): a reasoning proxy model reads a user's sessions and says which of them answer a query.

Start at :mod:`retrieval.session_ranking.llm_session_ranker`.
"""
