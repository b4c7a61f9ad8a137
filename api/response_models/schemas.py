"""Response models of the routes for schemas, generations and methods, for the OpenAPI document."""

from typing import Any, Final

from pydantic import Field

from api.http.openapi import ResponseModel, Responses, answers
from api.response_models.admin import DONE, Changed


class SchemaWritten(Changed):
    """The revision with the sent content."""

    schema_ref: str = Field(alias="schema")


class GenerationView(ResponseModel):
    """A generation of a tenant's memories; the first one's name is empty."""

    name: str
    schema_ref: str = Field(alias="schema")
    method: str
    """Its memory method."""
    live: bool


class Generations(ResponseModel):
    """A tenant's generations."""

    generations: list[GenerationView]


class Switched(Changed):
    """A generation that is live."""

    windows_left: int
    """Most windows of all tenants that its workers have not extracted yet, closed and parked ones. 0: they have extracted all."""


class Dropped(Changed):
    """A generation that is being retracted."""

    drops: int
    """Number of drops, including this one."""
    retracted: int
    """Number of retracted windows."""


class SchemaRevision(ResponseModel):
    """A schema's revision, and the number of tenants that use it."""

    schema_ref: str = Field(alias="schema")
    tenants: int
    owner: str | None
    """The only tenant that may use it; null: every tenant."""


class SchemaRevisions(ResponseModel):
    """Revisions by name, and the start of the next page."""

    schemas: list[SchemaRevision]
    next: int | None


class OwnSchemaRevision(ResponseModel):
    """A revision that a tenant may use."""

    schema_ref: str = Field(alias="schema")
    own: bool
    """Whether only this tenant can see it."""
    in_force: bool


class OwnSchemaRevisions(ResponseModel):
    """Revisions by name, and the start of the next page."""

    schemas: list[OwnSchemaRevision]
    next: int | None


class SchemaView(ResponseModel):
    """A revision of a memory schema."""

    schema_ref: str = Field(alias="schema")
    """Its name and revision, such as `notes@2`."""
    owner: str | None = None
    """The only tenant that may use it; null: every tenant may."""
    content: dict[str, Any]
    """`EventTypes`, `EntityTypes` and further parts. It can be sent back unchanged."""


class MethodSummary(ResponseModel):
    """A memory method, with the types that it adds to a schema."""

    method: str
    version: str
    description: str
    source: str
    event_types: list[str]
    entity_types: list[str]
    retrievers: list[str]


class MethodSummaries(ResponseModel):
    """The shipped memory methods."""

    methods: list[MethodSummary]


class MethodView(ResponseModel):
    """A memory method."""

    method: str
    content: dict[str, Any]
    """`Archive`, `Extract`, `Manage`, `Store` and `Retrieve`."""


GENERATIONS: Final[Responses] = answers(Generations, description="The tenant's generations.")
SWITCHED: Final[Responses] = answers(Switched, description=DONE)
DROPPED: Final[Responses] = answers(Dropped, description=f"{DONE} The stages do the work.")
SCHEMAS: Final[Responses] = answers(SchemaRevisions, description="The schemas' revisions.")
OWN_SCHEMAS: Final[Responses] = answers(OwnSchemaRevisions, description="The revisions, by name.")
SCHEMA: Final[Responses] = answers(
    SchemaView,
    description="The schema. It can be sent back unchanged.",
    headers={"ETag": {"description": "Its revision, for `If-Match`.", "schema": {"type": "string"}}},
)
METHODS: Final[Responses] = answers(MethodSummaries, description="The methods, by name.")
METHOD: Final[Responses] = answers(MethodView, description="The method.")
SCHEMA_WRITTEN: Final[Responses] = answers(SchemaWritten, description=DONE)
