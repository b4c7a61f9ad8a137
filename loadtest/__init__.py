"""Load on a whole stack (:mod:`loadtest.__main__`), and a simulated LLM for tests and benchmarks (:mod:`loadtest.llm_simulator`)."""
