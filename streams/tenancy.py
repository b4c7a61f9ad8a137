"""Who a record's tenant is, in the terms of the dead letters."""

from typing import Final

from memory.errors import SchemaError
from memory.schema.model import MemorySchema
from runtime.errors import TenantsFileError, UnknownTenantError
from runtime.settings import Settings
from runtime.tenants import Tenant, TenantDirectory
from streams.errors import PoisonRecordError, TransientError

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
        PoisonRecordError: If it is not.
        TransientError: If the tenants' file cannot be read now.
    """
    try:
        return tenants.get(tenant)
    except UnknownTenantError as error:
        raise PoisonRecordError(UnknownTenantError.reason, str(error)) from error
    except TenantsFileError as error:
        raise TransientError(str(error), dependency="tenants") from error


def schema_of(tenants: TenantDirectory, tenant: str, generation: str) -> MemorySchema:
    """The schema that a generation of a tenant's memories is made under.

    Raises:
        PoisonRecordError: If the tenant is unknown, or its schema is wrong or not there.
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
    """A tenant's weight in the fair sharing; 1 for one that is unknown: its records have to be worked on to be refused."""
    try:
        return tenants.get(tenant).weight
    except UnknownTenantError:
        return 1.0
