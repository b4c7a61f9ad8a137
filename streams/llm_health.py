"""Health check for the LLM of a stage."""

from models.llm.port import LLM
from streams.engine.keyed.attempts import HealthCheck


def llm_serves(llm: LLM | None, *, stage: str) -> HealthCheck | None:
    """A check that sends the LLM a minimal request; other dependencies are not checked.

    Args:
        llm: The stage's LLM. None: it has none.
        stage: The stage's name.
    """
    if llm is None:
        return None

    async def serves(dependency: str, tenant: str) -> bool:
        return dependency == "llm" and await llm.serves(tenant, stage=stage)

    return serves
