"""The documents of the control log: tenants, operators, and all revisions of all schemas. Each record of the log is one whole document."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import Field, JsonValue, StringConstraints, field_serializer, model_validator

from control.access_keys import ApiKey, OperatorKey
from control.document_base import Document
from control.erasure import ERASURE, Erasure, subject_of
from control.hold import HOLD, Hold
from control.message_signing import SigningPolicy
from control.reextraction import REEXTRACTION, Reextraction
from control.tenant_trust import TenantTrust
from control.webhooks import Webhook
from memory.keys import encode_key
from memory.messages.message_preparation import MessageSettings
from memory.records.base import Value
from memory.records.message import Id, Name
from memory.redaction import NO_REDACTION, RedactionPolicy
from memory.retention import RetentionPolicy
from runtime.settings import BudgetSettings, QuotaSettings

Weight = Annotated[float, Field(ge=0.001, le=1_000_000, allow_inf_nan=False)]
"""A tenant's share when tenants compete. The limits avoid rounding errors in sums of shares."""
GenerationName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]

_TENANT: Final = "tenant"
_SCHEMA: Final = "schema"
_OPERATORS: Final = "operators"
_AUDIT: Final = "audit"


class SchemaRef(Value):
    """One revision of a schema."""

    name: Name
    revision: int = Field(ge=1)

    def __str__(self) -> str:
        return f"{self.name}@{self.revision}"


class Generation(Value):
    """A further generation of a tenant's memories, extracted separately."""

    name: GenerationName
    schema_ref: SchemaRef
    """Its schema."""


class Drops(Value):
    """Number of drops of a generation."""

    generation: str
    """The generation's name; empty: the first."""
    count: int = Field(ge=1)


class FormerSchema(Value):
    """A schema that a generation had before its current one."""

    generation: str = ""
    """The generation's name; empty: the first."""
    schema_ref: SchemaRef


class Tenant(Document):
    """One tenant."""

    id: Id
    state: Literal["active", "suspended", "removed"] = "active"
    """``suspended``: its keys are rejected, but its records are processed. ``removed``: it is unknown, but its drops stay counted."""
    schema_ref: SchemaRef
    """The schema of its first generation."""
    keys: tuple[ApiKey, ...] = ()
    weight: Weight = 1.0
    """Its share when tenants compete for a stage."""
    budget: BudgetSettings = BudgetSettings()
    """Overrides ``VARVE_BUDGET__*``; null lifts a limit."""
    quota: QuotaSettings = QuotaSettings()
    """Overrides ``VARVE_QUOTA__*``; null lifts a limit."""
    signing: SigningPolicy = SigningPolicy()
    """Requirements for signatures of messages that are produced to Kafka in its name."""
    messages: MessageSettings = MessageSettings()
    """Time zone and markup of its messages."""
    retention: RetentionPolicy = Field(default_factory=dict)
    """How long results of each type, and raw messages, are kept (:mod:`memory.retention`). Default: forever."""
    trust: TenantTrust = TenantTrust()
    """Trust in the sources of its memories (:mod:`memory.trust`)."""
    redaction: RedactionPolicy = NO_REDACTION
    """Personal data that models do not see."""
    webhooks: tuple[Webhook, ...] = ()
    """Receivers of the changes of its memories."""
    generation: str = ""
    """The live generation; empty: the first."""
    generations: tuple[Generation, ...] = ()
    """Its generations without the first."""
    drops: tuple[Drops, ...] = ()
    """Drops of generations. Extractions contain the count, which identifies late extractions that were begun before a drop."""
    former_schemas: tuple[FormerSchema, ...] = ()
    """Schemas that its generations had before, newest first: entities may still have fields that only these define. Of each name the newest
    revision; earlier revisions of the current schema are left out."""

    def audited(self) -> dict[str, JsonValue]:
        """The fields for the audit log; users of keys are replaced by digests, and URLs of webhooks by their origins."""
        keys: list[JsonValue] = [
            key.model_dump(mode="json") | ({} if key.user is None else {"user": f"sha256:{subject_of(self.id, key.user)}"})
            for key in self.keys
        ]
        webhooks: list[JsonValue] = [each.model_dump(mode="json") | {"url": each.origin} for each in self.webhooks]
        return super().audited() | {"keys": keys} | ({"webhooks": webhooks} if webhooks else {})

    @field_serializer("budget", "quota")
    def _only_set_fields(self, group: BudgetSettings | QuotaSettings) -> dict[str, object]:
        # Unset values stay unset, so that they follow the settings.
        return group.model_dump(mode="json", exclude_unset=True)

    @model_validator(mode="after")
    def _names_are_unique(self) -> "Tenant":
        names = [each.name for each in self.generations]
        if len(set(names)) != len(names):
            raise ValueError(f"its generations have duplicate names ({', '.join(names)})")
        if not self.has_generation(self.generation):
            raise ValueError(f"its generation {self.generation!r} is not among its generations ({', '.join(names) or 'none'})")
        if len({each.id for each in self.keys}) != len(self.keys):
            raise ValueError("two of its keys have the same id")
        if len({each.id for each in self.webhooks}) != len(self.webhooks):
            raise ValueError("two of its webhooks have the same id")
        return self

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return tenant_key(self.id)

    def has_generation(self, generation: str) -> bool:
        """Whether it has a generation; it always has the first, whose name is empty."""
        return not generation or any(each.name == generation for each in self.generations)

    def drops_of(self, generation: str) -> int:
        """Number of drops of a generation."""
        return max((each.count for each in self.drops if each.generation == generation), default=0)

    def schema_of(self, generation: str) -> SchemaRef:
        """The schema of a generation; for a removed generation, the schema of the first."""
        return next((each.schema_ref for each in self.generations if each.name == generation), self.schema_ref)

    @property
    def live_schema(self) -> SchemaRef:
        """The schema of its live generation, used for extraction."""
        return self.schema_of(self.generation)

    def schemas_of(self, generation: str) -> Iterator[SchemaRef]:
        """All schemas under which entities of a generation may have been made, newest first, with their earlier revisions."""
        former = (each.schema_ref for each in self.former_schemas if each.generation == generation)
        seen: set[SchemaRef] = set()
        for newest in (self.schema_of(generation), *former):
            for number in range(newest.revision, 0, -1):
                ref = SchemaRef(name=newest.name, revision=number)
                if ref not in seen:
                    seen.add(ref)
                    yield ref

    def following(self, before: "Tenant") -> "Tenant":
        """The tenant with the schemas that its generations had before a change, in :attr:`former_schemas`."""
        found: dict[tuple[str, str], FormerSchema] = {}
        for each in (*self._replaced(before), *self.former_schemas, *before.former_schemas):
            name = each.generation, each.schema_ref.name
            if name not in found or found[name].schema_ref.revision < each.schema_ref.revision:
                found[name] = each
        former = tuple(each for each in found.values() if self.has_generation(each.generation) and not self._continues(each))
        return self if former == self.former_schemas else self.model_copy(update={"former_schemas": former})

    def _replaced(self, before: "Tenant") -> list[FormerSchema]:
        names = ["", *(each.name for each in before.generations)]
        former = (FormerSchema(generation=name, schema_ref=before.schema_of(name)) for name in names)
        return [each for each in former if each.schema_ref != self.schema_of(each.generation)]

    def _continues(self, former: FormerSchema) -> bool:
        """Whether a generation's current schema is the same revision of a former one, or a later one."""
        ref, now = former.schema_ref, self.schema_of(former.generation)
        return ref.name == now.name and ref.revision <= now.revision

    def under(self, ref: SchemaRef) -> "Tenant":
        """The tenant with another schema for its live generation; the other generations keep theirs."""
        if not self.generation:
            return self.model_copy(update={"schema_ref": ref})
        generations = (each.model_copy(update={"schema_ref": ref}) if each.name == self.generation else each for each in self.generations)
        return self.model_copy(update={"generations": tuple(generations)})


class Operators(Document):
    """The operators of this installation."""

    keys: tuple[OperatorKey, ...] = ()

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return encode_key(_OPERATORS)


class SchemaDocument(Document):
    """One revision of a schema. It never changes, so that extractions can be repeated."""

    name: Name
    number: int = Field(ge=1)
    """The schema's revision."""
    owner: Name | None = None
    """The only tenant that may use it. Default: all tenants. All revisions of a schema have the same owner."""
    content: JsonValue
    """The schema in the form of :func:`memory.schema.to_json`."""

    def is_open_to(self, tenant: str) -> bool:
        """Whether a tenant may use and see it."""
        return self.owner is None or self.owner == tenant

    @property
    def ref(self) -> SchemaRef:
        """Its name and revision."""
        return SchemaRef(name=self.name, revision=self.number)

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return schema_key(self.ref)


class AuditHead(Document):
    """Head of the audit chain, written with every change: it anchors the chain in the control log."""

    change: str
    """The id of the change that was written with this head."""
    until: int = Field(ge=0)
    """The offset in ``audit`` up to which the change had read."""
    before: str
    """The digest of all audit records before that offset."""
    last: str
    """The digest of the change's last audit record."""

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return encode_key(_AUDIT)


def tenant_key(tenant: str) -> bytes:
    """The key of a tenant's document."""
    return encode_key(_TENANT, tenant)


def schema_key(ref: SchemaRef) -> bytes:
    """The key of a schema's revision."""
    return encode_key(_SCHEMA, ref.name, str(ref.revision))


def operators_key() -> bytes:
    """The key of the operators' document."""
    return encode_key(_OPERATORS)


KINDS: Final[dict[str, type[Document]]] = {
    _TENANT: Tenant,
    _SCHEMA: SchemaDocument,
    _OPERATORS: Operators,
    _AUDIT: AuditHead,
    ERASURE: Erasure,
    HOLD: Hold,
    REEXTRACTION: Reextraction,
}
"""Document classes by the first part of their keys."""
