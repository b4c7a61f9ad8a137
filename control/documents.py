"""The documents of the control log: what Varve knows of each tenant, of its operators, and every revision of every schema.

A record of the log holds the whole of one document. They stand in ``runtime`` because a tenant's budget is what the settings say it is.
"""

import hashlib
import secrets
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints, field_serializer, model_validator

from control.document import Document, Label
from control.erasure import ERASURE, Erasure, subject_of
from control.message_signing import SigningPolicy
from memory.keys import encode_key
from memory.records.base import Value
from memory.records.message import Name
from runtime.settings import BudgetSettings, QuotaSettings

Scope = Literal["ingest", "recall", "correct", "operate"]
SCOPES: Final[tuple[Scope, ...]] = ("ingest", "recall", "correct", "operate")

Role = Literal["viewer", "operator", "admin"]
ROLES: Final[tuple[Role, ...]] = ("viewer", "operator", "admin")
"""What an operator may do, each more than the one before: look, handle dead letters, change the control log."""

KeyHash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
KeyId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{4,32}$")]
Weight = Annotated[float, Field(ge=0.001, le=1_000_000, allow_inf_nan=False)]
"""A tenant's share where tenants compete: with one next to nothing, or without bound, sums of what others had would lose them."""
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


class Key(Value):
    """A key that somebody holds; of the key itself only the SHA-256 is kept. Keys are 256 random bits, so it cannot be turned back."""

    id: KeyId
    """By which people name it."""
    hash: KeyHash
    label: Label = ""
    created: AwareDatetime
    expires: AwareDatetime | None = None
    """From this moment on it opens nothing; None: never."""

    def is_expired(self, now: datetime) -> bool:
        """Whether it opens nothing any more."""
        return self.expires is not None and self.expires <= now


class ApiKey(Key):
    """A key to a tenant's memory."""

    scopes: tuple[Scope, ...] = Field(default=SCOPES, min_length=1)
    user: Name | None = None
    """The one user whose memory it opens; None: every user's."""


class OperatorKey(Key):
    """A key to what lies across tenants, and to no tenant's memory."""

    role: Role = "admin"

    def may(self, role: Role) -> bool:
        """Whether the key's role includes another one."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Generation(Value):
    """Memories of a tenant's beside the first ones, extracted anew."""

    name: GenerationName
    schema_ref: SchemaRef
    """What it is made under."""


class Drops(Value):
    """How often a generation of a tenant's memories has been dropped."""

    generation: str
    """Its name; empty: the first."""
    count: int = Field(ge=1)


class Tenant(Document):
    """One tenant."""

    id: Name
    state: Literal["active", "suspended", "removed"] = "active"
    """A suspended tenant's keys open nothing, but its stream goes on. A removed one is unknown; its drops stay counted."""
    schema_ref: SchemaRef
    """The schema in force for its first generation."""
    keys: tuple[ApiKey, ...] = ()
    weight: Weight = 1.0
    """Its share where tenants compete for a stage's work."""
    budget: BudgetSettings = BudgetSettings()
    """Overrides ``VARVE_BUDGET__*``; null lifts a limit."""
    quota: QuotaSettings = QuotaSettings()
    """Overrides ``VARVE_QUOTA__*``; null lifts a limit."""
    signing: SigningPolicy = SigningPolicy()
    """Whether messages that are produced to Kafka in its name have to be signed."""
    generation: str = ""
    """Which generation of its memories is live; empty: the first."""
    generations: tuple[Generation, ...] = ()
    """Those beside the first."""
    drops: tuple[Drops, ...] = ()
    """What was dropped. Extractions bear the count, so that one which was begun before a drop is known when it comes late."""

    def audited(self) -> dict[str, JsonValue]:
        """The same; a user to whom a key is bound is named by a digest."""
        keys: list[JsonValue] = [
            each.model_dump(mode="json") | ({} if each.user is None else {"user": f"sha256:{subject_of(self.id, each.user)}"})
            for each in self.keys
        ]
        return super().audited() | {"keys": keys}

    @field_serializer("budget", "quota")
    def _only_set_fields(self, group: BudgetSettings | QuotaSettings) -> dict[str, object]:
        # What is not set stays unset: it follows the settings.
        return group.model_dump(mode="json", exclude_unset=True)

    @model_validator(mode="after")
    def _names_are_unique(self) -> "Tenant":
        names = [each.name for each in self.generations]
        if len(set(names)) != len(names):
            raise ValueError(f"a name is there twice among its generations ({', '.join(names)})")
        if not self.has_generation(self.generation):
            raise ValueError(f"its generation {self.generation!r} is not among its generations ({', '.join(names) or 'none'})")
        if len({each.id for each in self.keys}) != len(self.keys):
            raise ValueError("two of its keys have the same id")
        return self

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return tenant_key(self.id)

    def has_generation(self, generation: str) -> bool:
        """Whether it has a generation; it always has the first, whose name is empty."""
        return not generation or any(each.name == generation for each in self.generations)

    def drops_of(self, generation: str) -> int:
        """How often a generation has been dropped."""
        return max((each.count for each in self.drops if each.generation == generation), default=0)

    def schema_of(self, generation: str) -> SchemaRef:
        """The schema of a generation; of one that it has no more, that of its first."""
        return next((each.schema_ref for each in self.generations if each.name == generation), self.schema_ref)

    @property
    def live_schema(self) -> SchemaRef:
        """The schema of its live generation: what windows are extracted under."""
        return self.schema_of(self.generation)

    def under(self, ref: SchemaRef) -> "Tenant":
        """The same with another schema of its live generation; the others keep theirs."""
        if not self.generation:
            return self.model_copy(update={"schema_ref": ref})
        anew = (each.model_copy(update={"schema_ref": ref}) if each.name == self.generation else each for each in self.generations)
        return self.model_copy(update={"generations": tuple(anew)})


class Operators(Document):
    """Who operates this Varve."""

    keys: tuple[OperatorKey, ...] = ()

    @property
    def key(self) -> bytes:
        """Its key in the log."""
        return encode_key(_OPERATORS)


class SchemaDocument(Document):
    """One revision of a schema. It is written once: what was made under it can be made again."""

    name: Name
    number: int = Field(ge=1)
    """The schema's revision."""
    owner: Name | None = None
    """The one tenant that may have it in force; None: every tenant. A name's revisions have the same."""
    content: JsonValue
    """As :func:`memory.schema.to_json` writes it."""

    def is_open_to(self, tenant: str) -> bool:
        """Whether a tenant may have it in force, and see it."""
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
    """Where the audit chain stands, written with every change: the log's own anchor of the chain."""

    change: str
    """The id of the change that was written with it."""
    until: int = Field(ge=0)
    """The offset of ``audit`` that the change before this one had read to."""
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
}
"""The documents by the first part of their keys."""


def hash_key(key: str) -> str:
    """The hexadecimal SHA-256 by which a key is known."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def new_api_key() -> str:
    """A new key to a tenant's memory."""
    return f"vk_{secrets.token_urlsafe(32)}"


def new_operator_key() -> str:
    """A new operator's key."""
    return f"va_{secrets.token_urlsafe(32)}"


def key_id_of(key_hash: str) -> str:
    """The id of a key: the beginning of its hash."""
    return key_hash[:12]
