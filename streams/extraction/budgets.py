"""What each tenant's LLM calls may use up."""

from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.logs import logger
from runtime.settings import BudgetSettings, Settings
from runtime.tenants import TenantDirectory

_log = logger(__name__)


class TenantBudgets:
    """The settings' budget, but for what the tenants' file says otherwise.

    Args:
        tenants: The tenants' file, as it stands now.
        settings: The budget of who has none of its own, and whether there are prices.

    Raises:
        TenantsFileError: If a tenant's budget is a cost, which nobody can count without a price table.
    """

    def __init__(self, *, tenants: TenantDirectory, settings: Settings) -> None:
        self._tenants = tenants
        self._default = settings.budget
        self._can_count_cost = settings.llm.base_url is None or settings.llm.price_table is not None
        self._told_of: set[str] = set()
        for tenant in tenants.all():
            if tenant.budget.is_a_cost and not self._can_count_cost:
                raise TenantsFileError(f"{settings.tenants_path}: {_uncounted(tenant.id)}")

    def of(self, tenant: str) -> BudgetSettings:
        """A tenant's budget. A cost that nobody can count, which has come in since the start, is complained of once."""
        try:
            budget = self._default.but(self._tenants.get(tenant).budget)
        except UnknownTenantError:
            return self._default
        if budget.is_a_cost and not self._can_count_cost and tenant not in self._told_of:
            self._told_of.add(tenant)
            _log.error("a budget is not kept", problem=_uncounted(tenant))
        return budget


def _uncounted(tenant: str) -> str:
    return f"the budget of tenant {tenant!r} is a cost, which needs a price table (VARVE_LLM__PRICE_TABLE)"
