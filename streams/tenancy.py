"""Who a record's tenant is, in the terms of the dead letters."""

from typing import Final

from memory.errors import SchemaError
from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.settings import BudgetSettings, Settings
from runtime.tenants import Tenant, TenantDirectory
from streams.errors import PoisonRecord, TransientFailure

RECHECK_S: Final = 0.5
"""A stage asks for a tenant with every record: the file is looked at this seldom."""


def open_tenants(settings: Settings) -> TenantDirectory:
    """The tenants as a stage reads them.

    Raises:
        TenantsFileError: If the file is missing or wrong.
    """
    return TenantDirectory(path=settings.tenants_path, recheck_s=RECHECK_S)


def tenant_of(tenants: TenantDirectory, tenant: str) -> Tenant:
    """A tenant that is known.

    Raises:
        PoisonRecord: If it is not.
        TransientFailure: If the tenants' file cannot be read now.
    """
    try:
        return tenants.get(tenant)
    except UnknownTenantError as error:
        raise PoisonRecord(UnknownTenantError.reason, str(error)) from error
    except TenantsFileError as error:
        raise TransientFailure(str(error), dependency="tenants") from error


def schema_of(tenants: TenantDirectory, tenant: str, generation: str) -> MemorySchema:
    """The schema that a generation of a tenant's memories is made under.

    Raises:
        PoisonRecord: If the tenant is unknown, or its schema is wrong or not there.
        TransientFailure: If the tenants' file cannot be read now.
    """
    tenant_of(tenants, tenant)
    try:
        return tenants.schema_of(tenant, generation)
    except SchemaError as error:
        raise PoisonRecord("unknown_schema", f"the schema of tenant {tenant!r}: {error}") from error
    except TenantsFileError as error:
        raise TransientFailure(str(error), dependency="tenants") from error


def budget_of(tenants: TenantDirectory, tenant: str, default: BudgetSettings) -> BudgetSettings:
    """What a tenant's LLM calls may use up: the default, but for what the tenants' file says otherwise."""
    try:
        return default.but(tenants.get(tenant).budget)
    except UnknownTenantError:
        return default


def refuse_costs_without_prices(tenants: TenantDirectory, settings: Settings) -> None:
    """Sees to it that no tenant's budget is a cost that nobody can count.

    Raises:
        TenantsFileError: If one is, and there is an LLM but no price table.
    """
    if settings.llm.base_url is None or settings.llm.price_table is not None:
        return
    for tenant in tenants.all():
        if tenant.budget.is_a_cost:
            raise TenantsFileError(
                f"{settings.tenants_path}: tenant {tenant.id!r} has a budget as a cost, which needs a price table (VARVE_LLM__PRICE_TABLE)"
            )


def weight_of(tenants: TenantDirectory, tenant: str) -> float:
    """A tenant's weight in the fair sharing; 1 for one that is unknown: its records have to be worked on to be refused."""
    try:
        return tenants.get(tenant).weight
    except UnknownTenantError:
        return 1.0
