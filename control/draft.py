"""A change to the control log in preparation: reads, writes, checks and compares documents."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from control.access_keys import ApiKey
from control.document_base import Document
from control.documents import Operators, SchemaDocument, SchemaRef, Tenant, operators_key, schema_key, tenant_key
from control.erasure import Erasure
from control.errors import ChangedMeanwhileError, ChangeRefusedError, UnknownTenantError
from control.hold import ALL_USERS, Hold
from control.reextraction import Reextraction
from control.state import ControlState
from memory.errors import SchemaError
from memory.records.base import Value
from memory.retention import MESSAGES, OTHERS, READS
from memory.schema import MemorySchema, parse_schema, scenario_names, to_json
from memory.schema.changes import problem_of_change
from memory.schema.methods import DEFAULT_METHOD
from memory.validation_problems import problems_of

_D = TypeVar("_D", bound=Document)
_R = TypeVar("_R")
_V = TypeVar("_V", bound=Value)


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One document before and after a change."""

    before: Document | None
    """None: the document is new."""
    after: Document


class Draft:
    """Changes of a state, collected without modifying the state itself."""

    def __init__(self, state: ControlState) -> None:
        self._state = state
        self._put: dict[bytes, Document] = {}
        self._newest_schemas: dict[str, SchemaRef] = {}

    def tenant(self, tenant_id: str) -> Tenant:
        """A tenant.

        Raises:
            UnknownTenantError: If there is no tenant with the id.
        """
        tenant = self.find_tenant(tenant_id)
        if tenant is None or tenant.state == "removed":
            raise UnknownTenantError(f"there is no tenant {tenant_id!r}; `varve tenants list` shows them")
        return tenant

    def find_tenant(self, tenant_id: str) -> Tenant | None:
        """The tenant with an id, including removed tenants."""
        if self._state.is_unreadable(tenant_id):
            raise ChangeRefusedError(
                f"the record of tenant {tenant_id!r} was written by a newer version of Varve, or is damaged; use that version to change it"
            )
        put = self._put.get(tenant_key(tenant_id))
        return put if isinstance(put, Tenant) else self._state.tenants.get(tenant_id)

    def tenants(self) -> dict[str, Tenant]:
        """All tenants by id, without removed ones."""
        known = self._state.tenants | {each.id: each for each in self._documents(Tenant)}
        return {tenant_id: tenant for tenant_id, tenant in known.items() if tenant.state != "removed"}

    def erasure_of(self, subject: str) -> Erasure | None:
        """The erasure of a user, by the user's digest; None if there is none.

        Raises:
            ChangeRefusedError: If its record cannot be read: a change would lose its offsets.
        """
        if any(key.endswith(b"/" + subject.encode()) for key in self._state.unreadable):
            raise ChangeRefusedError(
                f"the record of the erasure of {subject} was written by a newer version of Varve, or is damaged; use that version"
            )
        put = next((each for each in self._documents(Erasure) if each.subject == subject), None)
        return put or self._state.erasures.get(subject)

    def erasures(self, tenant: str | None = None) -> list[Erasure]:
        """All erasures of a tenant's users, the oldest request first. None: those of all tenants."""
        known = self._state.erasures | {each.subject: each for each in self._documents(Erasure)}
        return sorted((each for each in known.values() if tenant in (None, each.tenant)), key=lambda each: each.requested_at)

    def hold_of(self, tenant: str, subject: str) -> Hold | None:
        """The document of a hold, in force or released; ``subject`` is a user's digest or :data:`control.hold.ALL_USERS`."""
        put = next((each for each in self._documents(Hold) if (each.tenant, each.subject) == (tenant, subject)), None)
        return put or self._state.holds.get((tenant, subject))

    def hold_on(self, tenant: str, subject: str) -> Hold | None:
        """The hold in force on a user: one on the user, or one on the whole tenant."""
        found = (self.hold_of(tenant, each) for each in (subject, ALL_USERS))
        return next((each for each in found if each is not None and each.is_in_force), None)

    def holds(self, tenant: str | None = None) -> list[Hold]:
        """All holds of a tenant, the oldest first, including released ones. None: those of all tenants."""
        known = self._state.holds | {(each.tenant, each.subject): each for each in self._documents(Hold)}
        return sorted((each for each in known.values() if tenant in (None, each.tenant)), key=lambda each: (each.placed_at, each.key))

    def reextraction(self, generation: str) -> Reextraction | None:
        """The re-extraction that builds a generation, including an ended one; None if there was none."""
        return {each.generation: each for each in self.reextractions()}.get(generation)

    def reextractions(self) -> list[Reextraction]:
        """All re-extractions, the oldest first, including ended ones."""
        known = self._state.reextractions | {each.generation: each for each in self._documents(Reextraction)}
        return sorted(known.values(), key=lambda each: (each.started_at, each.generation))

    @property
    def operators(self) -> Operators:
        """The operators of this installation."""
        put = self._put.get(operators_key())
        return put if isinstance(put, Operators) else self._state.operators

    def newest_schema(self, name: str) -> SchemaRef | None:
        """The newest revision of a schema; None if there is no schema with the name."""
        return self._newest_schemas.get(name) or self._state.newest_schemas.get(name)

    def schema(self, ref: SchemaRef) -> SchemaDocument | None:
        """A revision of a schema; None if there is none."""
        put = self._put.get(schema_key(ref))
        return put if isinstance(put, SchemaDocument) else self._state.schemas.get(ref)

    def method_of(self, ref: SchemaRef) -> str:
        """The name of the memory method of a schema's revision."""
        document = self.schema(ref)
        content = None if document is None else document.content
        method = content.get("Method") if isinstance(content, dict) else None
        return str(method.get("Method")) if isinstance(method, dict) else DEFAULT_METHOD

    def schemas_in_use(self) -> dict[SchemaRef, int]:
        """All revisions of schemas, with the number of tenants whose live generation uses each."""
        counts = dict.fromkeys(self._state.schemas, 0) | {each.ref: 0 for each in self._documents(SchemaDocument)}
        for tenant in self.tenants().values():
            counts[tenant.live_schema] = counts.get(tenant.live_schema, 0) + 1
        return counts

    def put(self, document: Document) -> None:
        """Writes a document, replacing the one with the same key. A tenant keeps the schemas that it had."""
        before = self._state.tenants.get(document.id) if isinstance(document, Tenant) else None
        if isinstance(document, Tenant) and before is not None:
            document = document.following(before)
        self._put[document.key] = document

    def put_schema(self, schema: MemorySchema, *, owner: str | None = None, expected: Collection[int] | None = None) -> SchemaRef:
        """Writes a schema as its next revision, unless it equals the newest one.

        Args:
            schema: The schema with its name.
            owner: The only tenant that may use it. Default: all tenants, or the owner of the existing revisions.
            expected: The newest revisions for which the schema was made; 0: a new name. Default: any.

        Raises:
            ChangedMeanwhileError: If the newest revision is another one, and has another content.
            ChangeRefusedError: If it is invalid after serialization, or if the name belongs to another owner.
            UnknownTenantError: If there is no such owner.
        """
        if owner is not None:
            self.tenant(owner)
        content = to_json(schema)
        try:
            parse_schema(content)
        except SchemaError as error:
            raise ChangeRefusedError(f"the schema {schema.name!r}: {error}") from error
        newest = self.newest_schema(schema.name)
        known = None if newest is None else self.schema(newest)
        if owner is not None and (schema.name in scenario_names() if known is None else known.owner != owner):
            raise ChangeRefusedError(f"the schema name {schema.name!r} does not belong to tenant {owner!r}; choose another")
        if known is not None and known.content == content:
            return known.ref
        revision = 0 if newest is None else newest.revision
        if expected is not None and revision not in expected:
            wanted = " or ".join(map(str, sorted(expected))) or "none"
            raise ChangedMeanwhileError(
                f"the schema {schema.name!r} was changed meanwhile: its newest revision is {newest or 'none'}, and the change is for "
                f"{wanted}; read the schema again, and repeat the change if it still fits"
            )
        written = new(
            SchemaDocument,
            name=schema.name,
            number=revision + 1,
            owner=owner if known is None else known.owner,
            content=content,
        )
        self.put(written)
        self._newest_schemas[schema.name] = written.ref
        return written.ref

    def import_schema(self, document: SchemaDocument) -> None:
        """Writes a revision of a schema with the number that it has in another log; does nothing if it exists already.

        Args:
            document: The revision. Earlier revisions must exist already.

        Raises:
            ChangeRefusedError: If the log has a different revision with the number, or lacks the previous one, or the schema is invalid.
        """
        known, newest = self.schema(document.ref), self.newest_schema(document.name)
        if known is not None:
            if (known.content, known.owner) != (document.content, document.owner):
                raise ChangeRefusedError(f"the control log has a different schema {document.ref}: revisions never change")
            return
        if document.number != (0 if newest is None else newest.revision) + 1:
            raise ChangeRefusedError(
                f"the newest revision before schema {document.ref} is {newest or 'none'}: add the missing revisions first"
            )
        try:
            parse_schema(document.content, name=document.name)
        except SchemaError as error:
            raise ChangeRefusedError(f"the schema {document.ref}: {error}") from error
        self.put(document)
        self._newest_schemas[document.name] = document.ref

    def changes(self) -> list[DocumentChange]:
        """The changed documents, each with its next revision; documents that were written unchanged are left out.

        Raises:
            ChangeRefusedError: If the documents are inconsistent.
        """
        found: list[DocumentChange] = []
        for key, after in self._put.items():
            before = self._state.document(key)
            revision = 0 if before is None else before.revision
            # Compared as they are stored: a limit that a tenant sets to its default, or to null, differs from one that it does not set.
            if before is None or after.model_copy(update={"revision": revision}).to_json() != before.to_json():
                found.append(DocumentChange(before, after.model_copy(update={"revision": revision + 1})))
        self._check([each.after for each in found])
        return found

    def _check(self, documents: list[Document]) -> None:
        owners: dict[str, bytes] = {}
        for document in documents:
            if isinstance(document, Tenant):
                for ref in (document.schema_ref, *(each.schema_ref for each in document.generations)):
                    schema = self.schema(ref)
                    # The error for another tenant's schema is the same as for a missing one.
                    if schema is None or not schema.is_open_to(document.id):
                        raise ChangeRefusedError(f"tenant {document.id!r}: there is no schema {ref}; `varve schemas list` shows them")
                self._check_schema_changes(document)
                self._check_retention(document)
                for key in document.keys:
                    self._check_owner(document, key, owners)

    def _check_schema_changes(self, tenant: Tenant) -> None:
        """Checks that the entities of each generation can be continued under the new schema. A new generation may have any schema."""
        before = self._state.tenants.get(tenant.id)
        if before is None or before.state == "removed":
            return
        for generation in ("", *(each.name for each in tenant.generations)):
            old, ref = before.schema_of(generation), tenant.schema_of(generation)
            if old == ref or not before.has_generation(generation):
                continue
            former, next_one = self._parsed(old), self._parsed(ref)
            if former is None or next_one is None:
                continue
            # Entities may still have fields of earlier schemas that the last one lacks.
            refs = (each for each in before.schemas_of(generation) if each != old)
            earlier = [schema for schema in map(self._parsed, refs) if schema is not None]
            problem = problem_of_change(former, next_one, earlier=earlier)
            if problem is not None:
                raise ChangeRefusedError(
                    f"tenant {tenant.id!r}, from {old} to {ref}: {problem}. An operator cannot use the state of another one: rename the "
                    f"field or the type, or build a new generation (`varve generations start NAME --tenant {tenant.id} --schema {ref}`)"
                )

    def _check_retention(self, tenant: Tenant) -> None:
        """Checks that a new retention names types of the tenant's schemas: a misspelt name would keep what has to be removed."""
        before = self._state.tenants.get(tenant.id)
        if before is not None and before.retention == tenant.retention:
            return
        refs = (tenant.schema_ref, *(each.schema_ref for each in tenant.generations), *(each.schema_ref for each in tenant.former_schemas))
        schemas = [schema for schema in map(self._parsed, refs) if schema is not None]
        types = {name for schema in schemas for name in schema.type_names}
        unknown = sorted(set(tenant.retention) - types - {MESSAGES, READS, OTHERS})
        if unknown:
            raise ChangeRefusedError(
                f"tenant {tenant.id!r}: retention: no schema of it has a type {unknown[0]!r}; it has {', '.join(sorted(types))}; "
                f"{MESSAGES!r} is for raw messages, {READS!r} for the read audit, {OTHERS!r} for all other types"
            )

    def _parsed(self, ref: SchemaRef) -> MemorySchema | None:
        """A revision of a schema; None if this version cannot read it, for example because an operator is missing."""
        document = self.schema(ref)
        try:
            return None if document is None else parse_schema(document.content, name=document.name)
        except SchemaError:
            return None

    def _check_owner(self, tenant: Tenant, key: ApiKey, owners: dict[str, bytes]) -> None:
        known = self._state.holder_of(key.hash)
        elsewhere = known is not None and known[0].id != tenant.id and self._still_has(known[0].id, key.hash)
        if elsewhere or owners.setdefault(key.hash, tenant.key) != tenant.key:
            raise ChangeRefusedError(f"tenant {tenant.id!r}: key {key.id} belongs to another tenant; create a new one")
        if any(each.hash == key.hash for each in self.operators.keys):
            raise ChangeRefusedError(f"tenant {tenant.id!r}: key {key.id} belongs to an operator; create a new one")

    def _still_has(self, tenant_id: str, key_hash: str) -> bool:
        tenant = self.find_tenant(tenant_id)
        return tenant is not None and any(each.hash == key_hash for each in tenant.keys)

    def _documents(self, kind: type[_D]) -> list[_D]:
        return [each for each in self._put.values() if isinstance(each, kind)]


Change = Callable[[Draft], _R]
"""Makes a change without I/O; may be called again on a newer state."""


def new(kind: type[_V], **fields: Any) -> _V:
    """Makes a validated document, or a part of one.

    Raises:
        ChangeRefusedError: If fields are invalid; names them and the reasons.
    """
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise ChangeRefusedError(problems_of(error)) from error


def changed(value: _V, **fields: Any) -> _V:
    """A validated copy of a document, or of a part of one, with other fields.

    Raises:
        ChangeRefusedError: If fields are invalid; names them and the reasons.
    """
    return new(type(value), **(value.model_dump() | fields))
