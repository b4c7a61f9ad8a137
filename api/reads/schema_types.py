"""The names of event and entity types in requests: one that no schema of the tenant has is a mistake, and would silently find nothing."""

from collections.abc import Iterable

from api.dependencies import Dependencies
from api.problems import ProblemError
from control.documents import Tenant
from memory.errors import SchemaError
from memory.schema.method import DERIVED_TYPES
from memory.schema.node import suggestion


def check_types(dependencies: Dependencies, tenant: Tenant, types: Iterable[str]) -> None:
    """Checks the types that a request selects.

    Args:
        dependencies: For the schemas.
        tenant: The caller's.
        types: The names in the request's field ``types``.

    Raises:
        ProblemError: 422 if memories of the live generation can have no such type; names the schema's types.
    """
    for name in types:
        if not _is_known(dependencies, tenant, name):
            options = dependencies.tenants.schema(tenant.live_schema).type_names
            raise ProblemError(
                422, "invalid", f"types: the schema {tenant.live_schema} has no type {name[:80]!r}; {suggestion(name, options)}"
            )


def missing_entity_type(dependencies: Dependencies, tenant: Tenant, name: str) -> str | None:
    """Why there can be no entity of a type; None if there can be one.

    Args:
        dependencies: For the schemas.
        tenant: The caller's.
        name: The name of the type.
    """
    if _is_known(dependencies, tenant, name, of_entities=True):
        return None
    options = [each.name for each in dependencies.tenants.schema(tenant.live_schema).entity_types]
    return f"the schema {tenant.live_schema} has no entity type {name[:80]!r}; {suggestion(name, options)}"


def _is_known(dependencies: Dependencies, tenant: Tenant, name: str, *, of_entities: bool = False) -> bool:
    """Whether a schema of the live generation has a type, or an earlier schema, from which memories may remain."""
    if not of_entities and name in DERIVED_TYPES:
        return True
    for ref in tenant.schemas_of(tenant.generation):
        try:
            schema = dependencies.tenants.schema(ref)
        except SchemaError:
            return True
        if schema.entity_type(name) is not None or (not of_entities and schema.event_type(name) is not None):
            return True
    return False
