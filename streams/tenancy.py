"""Looks tenants up for the stages, and says which failures are poison and which are transient."""

from typing import Final

from memory.errors import SchemaError
from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.metrics import Metrics
from runtime.settings import Settings
from runtime.tenants import Tenant, TenantDirectory
from streams.errors import PoisonRecordError, TransientError

RECHECK_S: Final = 0.5
"""How often the tenants' file is checked for changes; a stage looks a tenant up with every record."""


def open_tenants(settings: Settings, metrics: Metrics | None = None) -> TenantDirectory:
    """Opens the tenants' file for a stage.

    Args:
        settings: The settings in force.
        metrics: Where files are counted whose newest version is refused.

    Raises:
        TenantsFileError: If the file is missing or wrong.
    """
    return TenantDirectory(path=settings.tenants_path, recheck_s=RECHECK_S, schema_copies=settings.schema_copies_path, metrics=metrics)


def tenant_of(tenants: TenantDirectory, tenant: str) -> Tenant:
    """Looks a tenant up.

    Raises:
        PoisonRecordError: If it is unknown.
        TransientError: If the tenants' file cannot be read now.
    """
    try:
        return tenants.get(tenant)
    except UnknownTenantError as error:
        raise PoisonRecordError(UnknownTenantError.reason, str(error)) from error
    except TenantsFileError as error:
        raise TransientError(str(error), dependency="tenants") from error


def schema_of(tenants: TenantDirectory, tenant: str, generation: str, *, may_wait: bool = False) -> MemorySchema:
    """The schema of one generation of a tenant's memories: the last good one.

    Args:
        tenants: The tenants' file.
        tenant: Whose schema.
        generation: The generation; empty: the first.
        may_wait: Whether the stage can let one tenant's records wait while others' go on. A stage that handles its partitions in order
            cannot: there the record is put aside.

    Raises:
        PoisonRecordError: If the tenant is unknown, or no good schema of it was ever read on this machine.
        TransientError: If the tenants' file cannot be read now, or, with ``may_wait``, there is no good schema yet.
    """
    tenant_of(tenants, tenant)
    try:
        return tenants.schema_of(tenant, generation)
    except SchemaError as error:
        problem = f"the schema of tenant {tenant!r}: {error}"
        if may_wait:
            raise TransientError(problem, dependency="schema", counts_as_attempt=False) from error
        raise PoisonRecordError("unknown_schema", problem) from error
    except TenantsFileError as error:
        raise TransientError(str(error), dependency="tenants") from error


def weight_of(tenants: TenantDirectory, tenant: str) -> float:
    """A tenant's weight in fair queueing; 1 for an unknown one, whose records are handled to be refused."""
    try:
        return tenants.get(tenant).weight
    except UnknownTenantError:
        return 1.0
