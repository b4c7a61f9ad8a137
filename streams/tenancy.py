"""Looks tenants up for the stages, and says which failures are poison and which are transient."""

from typing import Final

from memory.errors import SchemaError
from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.settings import Settings
from runtime.tenants import Tenant, TenantDirectory
from streams.errors import PoisonRecordError, TransientError

RECHECK_S: Final = 0.5
"""How often the tenants' file is checked for changes; a stage looks a tenant up with every record."""


def open_tenants(settings: Settings) -> TenantDirectory:
    """Opens the tenants' file for a stage.

    Raises:
        TenantsFileError: If the file is missing or wrong.
    """
    return TenantDirectory(path=settings.tenants_path, recheck_s=RECHECK_S)


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


def schema_of(tenants: TenantDirectory, tenant: str, generation: str) -> MemorySchema:
    """The schema of one generation of a tenant's memories.

    Args:
        tenants: The tenants' file.
        tenant: Whose schema.
        generation: The generation; empty: the first.

    Raises:
        PoisonRecordError: If the tenant is unknown, or its schema is wrong or missing.
        TransientError: If the tenants' file cannot be read now.
    """
    tenant_of(tenants, tenant)
    try:
        return tenants.schema_of(tenant, generation)
    except SchemaError as error:
        raise PoisonRecordError("unknown_schema", f"the schema of tenant {tenant!r}: {error}") from error
    except TenantsFileError as error:
        raise TransientError(str(error), dependency="tenants") from error


def weight_of(tenants: TenantDirectory, tenant: str) -> float:
    """A tenant's weight in fair queueing; 1 for an unknown one, whose records are handled to be refused."""
    try:
        return tenants.get(tenant).weight
    except UnknownTenantError:
        return 1.0
