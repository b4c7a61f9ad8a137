"""How a stage that asks an LLM tells whether that is away."""

from models.llm.port import LLM
from streams.engine.keyed.attempts import HealthCheck


def llm_serves(llm: LLM | None, *, stage: str) -> HealthCheck | None:
    """Asks the LLM for a word; other dependencies are not asked.

    Args:
        llm: The stage's; None: it has none.
        stage: Who asks.
    """
    if llm is None:
        return None

    async def serves(dependency: str, tenant: str) -> bool:
        return dependency == "llm" and await llm.serves(tenant, stage=stage)

    return serves
