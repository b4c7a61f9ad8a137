"""The budget of each tenant's LLM calls."""

from runtime.errors import ControlLogBehindError, UnenforceableBudgetError, UnknownTenantError
from runtime.logs import logger
from runtime.settings import BudgetSettings, Settings
from runtime.tenants import TenantDirectory

_log = logger(__name__)


class TenantBudgets:
    """The default budget, with each tenant's own values over it.

    Args:
        tenants: Who is known.
        settings: Hold the default budget, and whether there is a price table.

    Raises:
        UnenforceableBudgetError: If a tenant's budget is a cost and there is no price table.
    """

    def __init__(self, *, tenants: TenantDirectory, settings: Settings) -> None:
        self._tenants = tenants
        self._default = settings.budget
        self._has_prices = settings.llm.base_url is None or settings.llm.price_table is not None
        self._reported: set[str] = set()
        for tenant in tenants.all():
            if tenant.budget.is_a_cost and not self._has_prices:
                raise UnenforceableBudgetError(_price_table_missing(tenant.id))

    def of(self, tenant: str) -> BudgetSettings:
        """A tenant's budget. A cost budget without a price table, added since the start, is logged once."""
        try:
            budget = self._default.but(self._tenants.get(tenant).budget)
        except (UnknownTenantError, ControlLogBehindError):
            return self._default
        if budget.is_a_cost and not self._has_prices and tenant not in self._reported:
            self._reported.add(tenant)
            _log.error("budget_not_enforced", tenant=tenant, error=_price_table_missing(tenant))
        return budget


def _price_table_missing(tenant: str) -> str:
    return f"the budget of tenant {tenant!r} is a cost, which needs a price table (VARVE_LLM__PRICE_TABLE)"
