"""The budget of each tenant's LLM calls."""

from typing import Final

from control.errors import ControlLogBehindError, UnknownTenantError
from control.tenants import TenantDirectory
from models.errors import BudgetExceededError
from runtime.logs import logger
from runtime.settings import BudgetSettings, Settings

_log = logger(__name__)

_LOOK_AGAIN_S: Final = 60.0
"""Long enough for the windows to be parked: somebody has to do something."""


class TenantBudgets:
    """The default budget, with each tenant's own values over it.

    Without a price table nobody knows what a call costs. A tenant whose hard budget is a cost makes no call then, as if it were spent; it
    holds up nobody else.

    Args:
        tenants: Who is known.
        settings: Hold the default budget, and whether there is a price table.
    """

    def __init__(self, *, tenants: TenantDirectory, settings: Settings) -> None:
        self._tenants = tenants
        self._default = settings.budget
        self._has_prices = settings.llm.base_url is None or settings.llm.price_table is not None
        self._reported: set[str] = set()

    def of(self, tenant: str) -> BudgetSettings:
        """A tenant's budget. A cost without a price table is logged once.

        Raises:
            BudgetExceededError: If its hard budget is a cost, and there is no price table.
        """
        try:
            budget = self._default.but(self._tenants.get(tenant).budget)
        except (UnknownTenantError, ControlLogBehindError):
            return self._default
        if not budget.is_a_cost or self._has_prices:
            return budget
        problem = (
            f"the budget of tenant {tenant!r} is a cost, which needs a price table: set VARVE_LLM__PRICE_TABLE for the stages that ask a "
            f"model, or give it a budget in tokens (`varve tenants set {tenant} --budget`)"
        )
        if tenant not in self._reported:
            self._reported.add(tenant)
            _log.error("budget_without_prices", tenant=tenant, error=problem)
        if budget.hard_cost is not None:
            raise BudgetExceededError(problem, retry_after=_LOOK_AGAIN_S, offline=budget.policy == "offline")
        return budget
