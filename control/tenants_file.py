"""The tenants' file: the desired state of the control log, for version control. It is applied to the log and exported from it.

``{"tenants": [{"id": "acme", "schema": "companion", "keys": [{"hash": "<sha256, hex>", "label": "app"}], "weight": 1.0,
"budget": {"hard_tokens": 1000000}}], "operators": [{"hash": "<sha256, hex>", "role": "admin"}]}``
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from control.access_keys import DEFAULT_SCOPES, ApiKey, KeyHash, KeyId, OperatorKey, Role, Scope, key_id_of
from control.document_base import Label
from control.documents import (
    Drops,
    FormerSchema,
    Generation,
    GenerationName,
    SchemaDocument,
    SchemaRef,
    Tenant,
    Weight,
    operators_key,
    tenant_key,
)
from control.draft import Draft, changed, new
from control.errors import ChangedMeanwhileError, ChangeRefusedError, TenantsFileError
from control.message_signing import SigningPolicy
from control.schemas import resolve_method_schema
from control.state import ControlState
from control.tenant_changes import add_tenant, remove_tenant, set_tenant
from control.tenant_trust import TenantTrust
from memory.errors import SchemaError
from memory.messages.message_preparation import MessageSettings
from memory.records.message import Id, Name
from memory.redaction import NO_REDACTION, RedactionPolicy
from memory.retention import RetentionPolicy
from memory.schema import MemorySchema, load_schema
from memory.schema.methods import MethodDocument, load_method
from memory.trust import TrustPolicy
from memory.validation_problems import problems_of
from runtime.settings import BudgetSettings, QuotaSettings

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NAMED: Final = 5
"""Most documents that an error names."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _FileKey(_Part):
    id: KeyId | None = None
    """Default: the beginning of its hash."""
    hash: KeyHash
    label: Label = ""
    expires: AwareDatetime | None = None


class FileApiKey(_FileKey):
    """A key for a tenant's memory."""

    scopes: tuple[Scope, ...] = Field(default=DEFAULT_SCOPES, min_length=1)
    user: Id | None = None


class FileOperatorKey(_FileKey):
    """An operator's key."""

    role: Role = "admin"


class FileGeneration(_Part):
    """A further generation of a tenant."""

    name: GenerationName
    schema_name: str = Field(alias="schema", min_length=1)
    method: str | None = Field(default=None, min_length=1)


class FileFormerSchema(_Part):
    """A schema that a generation of a tenant had before."""

    generation: str = ""
    name: Name
    revision: int = Field(ge=1)


class FileSchema(_Part):
    """One revision of a schema, with the number that records refer to."""

    name: Name
    revision: int = Field(ge=1)
    owner: Name | None = None
    content: JsonValue


class FileTenant(_Part):
    """One tenant. Values that are None keep the log's values."""

    id: Id
    revision: int | None = Field(default=None, ge=0)
    """The tenant's revision when it was exported: the file is refused if it would overwrite a later change. None: it overwrites any."""
    schema_name: str = Field(alias="schema", min_length=1)
    """A schema of the log (``notes``, ``notes@2``), a shipped schema, or a file, relative to this one."""
    method: str | None = Field(default=None, min_length=1)
    """The memory method that extends the schema: a shipped one, or a file, relative to this one. None: the schema as it is."""
    state: Literal["active", "suspended"] = "active"
    weight: Weight = 1.0
    budget: BudgetSettings = BudgetSettings()
    quota: QuotaSettings = QuotaSettings()
    signing: SigningPolicy | None = None
    messages: MessageSettings = MessageSettings()
    retention: RetentionPolicy | None = None
    """None: keep the log's retention. ``{}``: keep everything forever."""
    redaction: RedactionPolicy = NO_REDACTION
    trust: TrustPolicy | None = None
    """Trust in the sources of its memories. None: keep the log's levels. ``{}``: every source is normal."""
    keys: tuple[FileApiKey, ...] | None = None
    generation: str | None = None
    generations: tuple[FileGeneration, ...] | None = None
    drops: tuple[Drops, ...] = ()
    """Minimum counts of drops."""
    former_schemas: tuple[FileFormerSchema, ...] = ()
    """Schemas that its generations had before, in addition to those in the log."""


class TenantsFile(_Part):
    """The whole file."""

    schemas: tuple[FileSchema, ...] = ()
    """Schemas to add to the log. Schemas that the file lacks are not removed."""
    tenants: tuple[FileTenant, ...] = ()
    operators: tuple[FileOperatorKey, ...] | None = None
    """None: keep the log's operators."""
    operators_revision: int | None = Field(default=None, ge=0)
    """The operators' revision when they were exported, as that of a tenant."""

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "TenantsFile":
        often = [each for each, times in Counter(each.id for each in self.tenants).items() if times > 1]
        if often:
            raise ValueError(f"tenants: {often[0]!r} is duplicated; remove one")
        return self


def read_tenants_file(path: Path) -> TenantsFile:
    """Reads a file, YAML or JSON.

    Raises:
        TenantsFileError: If it cannot be read or is invalid; names the place.
    """
    try:
        # JSON files of tenants are valid YAML, too.
        return TenantsFile.model_validate(yaml.load(path.read_bytes(), Loader=_LOADER) or {})
    except OSError as error:
        raise TenantsFileError(f"{path} cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise TenantsFileError(f"{path}: neither YAML nor JSON: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        raise TenantsFileError(f"{path}: {problems_of(error)}") from error


def apply_file(draft: Draft, file: TenantsFile, *, folder: Path | None, now: datetime, prune: bool, force: bool = False) -> None:
    """Applies a file to the log.

    Args:
        draft: The change.
        file: The file.
        folder: Base folder of the paths of schema and method files; None: they cannot be files.
        now: The current time (aware).
        prune: Whether to remove tenants that the file does not list.
        force: Whether to overwrite changes that were made after the file was exported.

    Raises:
        ChangedMeanwhileError: If it would overwrite such changes.
        ChangeRefusedError: If the file is inconsistent with the log.
    """
    for schema in sorted(file.schemas, key=lambda each: (each.name, each.revision)):
        draft.import_schema(new(SchemaDocument, name=schema.name, number=schema.revision, owner=schema.owner, content=schema.content))
    wanted = {each.id for each in file.tenants}
    for tenant_id in draft.tenants():
        if prune and tenant_id not in wanted:
            remove_tenant(draft, tenant_id)
    known = draft.tenants()
    schemas: dict[str, str | MemorySchema] = {}
    for tenant in file.tenants:
        _apply_tenant(draft, tenant, known.get(tenant.id), schemas, folder, now)
    if file.operators is not None:
        held = {each.hash: each for each in draft.operators.keys}
        keys = tuple(
            new(OperatorKey, **_key_fields(each, None if each.hash not in held else held[each.hash].created, now))
            for each in file.operators
        )
        # Without operators there is no document.
        if keys != draft.operators.keys:
            draft.put(changed(draft.operators, keys=keys))
    if not force:
        _require_unchanged(draft, file)


def _require_unchanged(draft: Draft, file: TenantsFile) -> None:
    """Checks that no document that the file changes has changed since the file was exported."""
    exported = {tenant_key(each.id): each.revision for each in file.tenants if each.revision is not None}
    if file.operators_revision is not None:
        exported[operators_key()] = file.operators_revision
    if not exported:
        return
    befores = [each.before for each in draft.changes() if each.before is not None]
    newer = [each for each in befores if exported.get(each.key, each.revision) != each.revision]
    if newer:
        named = [f"{each.key.decode('ascii')} (revision {exported[each.key]} in the file, {each.revision} now)" for each in newer[:_NAMED]]
        more = f" and {len(newer) - _NAMED} more" if len(newer) > _NAMED else ""
        raise ChangedMeanwhileError(
            f"changed since the file was exported: {', '.join(named)}{more}; export again and repeat your changes, or overwrite the others "
            "by force"
        )


def export_file(state: ControlState, *, with_schemas: bool = False) -> dict[str, Any]:
    """Exports the log as a file that would not change it. It names the revisions of its documents.

    Args:
        state: The state of the log.
        with_schemas: Whether to include all revisions of all schemas, as needed to import the file into a new log.
    """
    tenants = [each for each in state.tenants.values() if each.state != "removed"]
    schemas = [state.schemas[ref] for ref in sorted(state.schemas, key=lambda ref: (ref.name, ref.revision))] if with_schemas else []
    exported = {"schemas": [{"name": each.name, "revision": each.number, "owner": each.owner, "content": each.content} for each in schemas]}
    return {
        **(exported if with_schemas else {}),
        "tenants": [exported_tenant(each) | (_exported_former(each) if with_schemas else {}) for each in tenants],
        "operators": [_exported_key(each) for each in state.operators.keys],
        "operators_revision": state.operators.revision,
    }


def _apply_tenant(
    draft: Draft, wanted: FileTenant, before: Tenant | None, schemas: dict[str, str | MemorySchema], folder: Path | None, now: datetime
) -> None:
    fields = _wanted_fields(draft, wanted, before, now)
    if wanted.generations is not None:
        fields["generations"] = tuple(
            new(Generation, name=each.name, schema_ref=_schema_ref(draft, each.schema_name, each.method, schemas, folder))
            for each in wanted.generations
        )
    if before is None:
        schema, method = _schema(wanted.schema_name, schemas, folder), _method(wanted.method, folder)
        add_tenant(draft, wanted.id, schema=schema, method=method, **fields)
        return
    first = _schema_ref(draft, wanted.schema_name, wanted.method, schemas, folder)
    live = before.generation if wanted.generation is None else wanted.generation
    if live and wanted.generations is None and first != before.schema_ref:
        raise ChangeRefusedError(
            f"tenant {wanted.id!r}: the file's `schema` is for the first generation, but {live!r} is live: add "
            "`generation` and `generations` to the file, as `varve export` writes them, and set the schema there"
        )
    set_tenant(draft, wanted.id, schema_ref=first, **fields)


def _wanted_fields(draft: Draft, wanted: FileTenant, before: Tenant | None, now: datetime) -> dict[str, Any]:
    """The fields of a tenant that the file sets, except its schemas. What the file leaves out stays as it is."""
    # Also a removed tenant: its former schemas and drops still explain what is in the log.
    earlier = draft.find_tenant(wanted.id)
    fields: dict[str, Any] = {name: getattr(wanted, name) for name in ("state", "weight", "budget", "quota", "messages", "redaction")}
    fields |= {name: value for name in ("retention", "signing", "generation") if (value := getattr(wanted, name)) is not None}
    if wanted.trust is not None:
        fields["trust"] = (TenantTrust() if earlier is None else earlier.trust).with_policy(wanted.trust, now=now)
    if wanted.keys is not None:
        created = {} if before is None else {each.hash: each.created for each in before.keys}
        fields["keys"] = tuple(new(ApiKey, **_key_fields(key, created.get(key.hash), now)) for key in wanted.keys)
    former = (*wanted.former_schemas, *(() if earlier is None else map(_file_former, earlier.former_schemas)))
    fields["former_schemas"] = tuple(map(_former, dict.fromkeys(former)))
    fields["drops"] = _most_drops(() if earlier is None else earlier.drops, wanted.drops)
    return fields


def _schema_ref(draft: Draft, schema: str, method: str | None, schemas: dict[str, str | MemorySchema], folder: Path | None) -> SchemaRef:
    return resolve_method_schema(draft, _schema(schema, schemas, folder), _method(method, folder))


def _schema(name: str, schemas: dict[str, str | MemorySchema], folder: Path | None) -> str | MemorySchema:
    if name not in schemas:
        path = None if folder is None else folder / name
        try:
            schemas[name] = load_schema(path) if path is not None and path.is_file() else name
        except SchemaError as error:
            raise ChangeRefusedError(str(error)) from error
    return schemas[name]


def _method(name: str | None, folder: Path | None) -> str | MethodDocument | None:
    path = None if folder is None or name is None else folder / name
    try:
        return load_method(path) if path is not None and path.is_file() else name
    except SchemaError as error:
        raise ChangeRefusedError(str(error)) from error


def _most_drops(one: Sequence[Drops], other: Sequence[Drops]) -> tuple[Drops, ...]:
    counts: dict[str, int] = {}
    for each in (*one, *other):
        counts[each.generation] = max(counts.get(each.generation, 0), each.count)
    return tuple(Drops(generation=generation, count=count) for generation, count in counts.items())


def _key_fields(key: _FileKey, created: datetime | None, now: datetime) -> dict[str, Any]:
    return key.model_dump() | {"id": key.id or key_id_of(key.hash), "created": created or now}


def exported_tenant(tenant: Tenant) -> dict[str, Any]:
    """A tenant as in an exported file."""
    fields: dict[str, Any] = {
        "id": tenant.id,
        "revision": tenant.revision,
        "schema": str(tenant.schema_ref),
        "state": tenant.state,
        "weight": tenant.weight,
        "budget": tenant.budget.model_dump(mode="json", exclude_unset=True),
        "quota": tenant.quota.model_dump(mode="json", exclude_unset=True),
        "signing": tenant.signing.model_dump(mode="json", exclude_none=True),
        "messages": tenant.messages.model_dump(mode="json", exclude_defaults=True),
        "retention": tenant.retention,
        "redaction": tenant.redaction.model_dump(mode="json", exclude_defaults=True),
        "trust": tenant.trust.policy.model_dump(mode="json", exclude_defaults=True),
        "keys": [_exported_key(each) for each in tenant.keys],
        "generation": tenant.generation,
        "generations": [{"name": each.name, "schema": str(each.schema_ref)} for each in tenant.generations],
    }
    if tenant.drops:
        fields["drops"] = [each.model_dump(mode="json") for each in tenant.drops]
    return fields


def _exported_former(tenant: Tenant) -> dict[str, Any]:
    return {"former_schemas": [_file_former(each).model_dump() for each in tenant.former_schemas]} if tenant.former_schemas else {}


def _file_former(former: FormerSchema) -> FileFormerSchema:
    return FileFormerSchema(generation=former.generation, name=former.schema_ref.name, revision=former.schema_ref.revision)


def _former(former: FileFormerSchema) -> FormerSchema:
    return new(FormerSchema, generation=former.generation, schema_ref={"name": former.name, "revision": former.revision})


def _exported_key(key: ApiKey | OperatorKey) -> dict[str, Any]:
    return key.model_dump(mode="json", exclude={"created"}, exclude_none=True)
