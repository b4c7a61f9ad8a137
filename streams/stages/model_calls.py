"""Parts of the stages that call a model: the tenants' budgets, the usage topic, and a health check."""

from typing import Final

from control.errors import ControlLogBehindError, UnknownTenantError
from control.tenants import TenantDirectory
from memory.keys import encode_key
from memory.records import Usage
from models.errors import BudgetExceededError
from models.llm.port import LLM
from runtime.kafka import Producer
from runtime.logs import logger
from runtime.settings import BudgetSettings, Settings
from streams.engine.keyed.attempts import HealthCheck

_log = logger(__name__)

_LOOK_AGAIN_S: Final = 60.0
"""Long enough for the windows to be parked: an operator has to act."""


class TenantBudgets:
    """The default budget, overridden by each tenant's own values.

    Without a price table the cost of a call is unknown. A tenant whose hard budget is a cost makes no calls, as if the budget were used
    up; other tenants are not delayed.

    Args:
        tenants: The known tenants.
        settings: The default budget, and the price table.
    """

    def __init__(self, *, tenants: TenantDirectory, settings: Settings) -> None:
        self._tenants = tenants
        self._default = settings.budget
        self._has_prices = settings.llm.base_url is None or settings.llm.price_table is not None
        self._reported: set[str] = set()

    def of(self, tenant: str) -> BudgetSettings:
        """A tenant's budget. A cost without a price table is logged once.

        Raises:
            BudgetExceededError: The hard budget is a cost, and there is no price table.
        """
        try:
            budget = self._default.overridden_by(self._tenants.get(tenant).budget)
        except (UnknownTenantError, ControlLogBehindError):
            return self._default
        if not budget.is_a_cost or self._has_prices:
            return budget
        problem = (
            f"the budget of tenant {tenant!r} is a cost, which needs a price table: set VARVE_LLM__PRICE_TABLE for the stages that call a "
            f"model, or give it a budget in tokens (`varve tenants set {tenant} --budget`)"
        )
        if tenant not in self._reported:
            self._reported.add(tenant)
            _log.error("budget_without_prices", tenant=tenant, error=problem)
        if budget.hard_cost is not None:
            raise BudgetExceededError(problem, retry_after_s=_LOOK_AGAIN_S, offline=budget.policy == "offline")
        return budget


class UsageTopic:
    """Produces usage records. Each call is recorded when it is made, even in a retry of its window, since each call is billed.

    Args:
        producer: Produces the records; its owner closes it.
        topic: The usage topic's name on the broker.
        generation: The generation that a re-extraction builds. Empty: the calls belong to no re-extraction.
    """

    def __init__(self, *, producer: Producer, topic: str, generation: str = "") -> None:
        self._producer = producer
        self._topic = topic
        self._generation = generation

    async def record(self, usage: Usage) -> None:
        """Records one call's usage. Raises as :meth:`runtime.kafka.Producer.send`."""
        if self._generation:
            usage = usage.model_copy(update={"generation": self._generation})
        await self._producer.send(self._topic, key=encode_key(usage.tenant), value=usage.to_json())


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
