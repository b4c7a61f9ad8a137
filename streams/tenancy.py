"""Who a record's tenant is, in the terms of the dead letters."""

from memory.errors import SchemaError
from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.tenants import TenantDirectory
from streams.errors import PoisonRecord, TransientFailure


def require_tenant(tenants: TenantDirectory, tenant: str) -> None:
    """Checks that a tenant is known.

    Raises:
        PoisonRecord: If it is not.
        TransientFailure: If the tenants' file cannot be read now.
    """
    try:
        tenants.get(tenant)
    except UnknownTenantError as error:
        raise PoisonRecord(UnknownTenantError.reason, str(error)) from error
    except TenantsFileError as error:
        raise TransientFailure(str(error), dependency="tenants") from error


def schema_of(tenants: TenantDirectory, tenant: str) -> MemorySchema:
    """The schema of a tenant.

    Raises:
        PoisonRecord: If the tenant is unknown, or its schema is wrong or not there.
        TransientFailure: If the tenants' file cannot be read now.
    """
    require_tenant(tenants, tenant)
    try:
        return tenants.schema_of(tenant)
    except SchemaError as error:
        raise PoisonRecord("unknown_schema", f"the schema of tenant {tenant!r}: {error}") from error
    except TenantsFileError as error:
        raise TransientFailure(str(error), dependency="tenants") from error


def weight_of(tenants: TenantDirectory, tenant: str) -> float:
    """A tenant's weight in the fair sharing; 1 for one that is unknown: its records have to be worked on to be refused."""
    try:
        return tenants.get(tenant).weight
    except UnknownTenantError:
        return 1.0
