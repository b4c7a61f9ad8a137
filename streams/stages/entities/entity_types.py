"""The types of entities: under the schema of a contribution, and with the fields that a schema has lost."""

from collections.abc import Iterator

from control.tenants import TenantDirectory
from memory.records import Contribution
from memory.schema.model import EntityType
from operators.entities.entity_state import EntityState
from operators.entities.former_fields import has_former_fields, with_former_fields
from streams.errors import PoisonRecordError
from streams.stages.tenancy import other_schemas, schema_of_record


class EntityTypes:
    """Finds the type of an entity.

    Args:
        tenants: The known tenants, with their schemas.
    """

    def __init__(self, tenants: TenantDirectory) -> None:
        self._tenants = tenants

    def of(self, contribution: Contribution) -> EntityType:
        """The type in the schema under which a contribution was made.

        Raises:
            PoisonRecordError: The schema has no such type, or is unknown.
        """
        schema = schema_of_record(self._tenants, contribution)
        entity_type = schema.entity_type(contribution.entity_type)
        if entity_type is None:
            raise PoisonRecordError(
                "unknown_entity_type",
                f"the schema {schema.name!r} of tenant {contribution.tenant!r} has no entity type {contribution.entity_type!r}; "
                "add it, then redrive the dead letter",
            )
        return entity_type

    def shown(self, state: EntityState, contribution: Contribution, entity_type: EntityType) -> EntityType:
        """The type, plus fields that were removed from the schema and of which the entity still has data.

        Args:
            state: The entity.
            contribution: The last contribution to it.
            entity_type: The type of the contribution.
        """
        if not has_former_fields(state, entity_type):
            return entity_type
        return with_former_fields(state, entity_type, self._former(contribution))

    def applied(self, state: EntityState | None, contribution: Contribution, entity_type: EntityType) -> EntityType:
        """The type, plus fields that were removed from the schema and that the contribution retracts, as a drop does.

        Args:
            state: The entity before the contribution.
            contribution: The contribution.
            entity_type: The type of the contribution.
        """
        names = {each.property for each in contribution.changes if each.op == "retract" and entity_type.property(each.property) is None}
        if state is None or not names:
            return entity_type
        return with_former_fields(state, entity_type, self._former(contribution), names=names)

    def _former(self, made: Contribution) -> Iterator[EntityType]:
        """A contribution's entity type in the other schemas of its generation, newest first."""
        former = (schema.entity_type(made.entity_type) for schema in other_schemas(self._tenants, made))
        return (each for each in former if each is not None)
