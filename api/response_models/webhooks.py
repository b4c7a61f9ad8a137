"""Response models of the routes for webhooks, for the OpenAPI document."""

from datetime import datetime
from typing import Final

from api.http.openapi import ResponseModel, Responses, answers
from api.response_models.admin import DONE, Changed


class WebhookSecretView(ResponseModel):
    """A signing secret, without its value."""

    id: str
    until: datetime | None
    """When it expires; null: never."""


class WebhookView(ResponseModel):
    """A receiver of the changes of a tenant's memories."""

    id: str
    url: str
    label: str
    kinds: list[str]
    """Kinds of memories; empty: all."""
    content: bool
    """Whether deliveries contain the memory."""
    created: datetime
    """Earlier changes are not sent."""
    secrets: list[WebhookSecretView]


class WebhookViews(ResponseModel):
    """A tenant's webhooks."""

    webhooks: list[WebhookView]


class WebhookMade(Changed):
    """A webhook, and a new signing secret that is shown only once."""

    id: str
    secret: str


class WebhookDeadLetter(ResponseModel):
    """A delivery whose attempts all failed."""

    id: str
    """The ``webhook-id`` of the delivery."""
    event: str
    memory_id: str
    changed_at: datetime
    attempts: int
    problem: str
    """The last failure."""
    dead_at: datetime | None
    redriven: int
    """Number of redrives."""


class WebhookDeadLetters(ResponseModel):
    """The dead letters of a webhook."""

    dead_letters: list[WebhookDeadLetter]
    dead: int
    """Number of dead letters."""
    pending: int
    """Number of deliveries that wait or run."""


class WebhookRedriven(ResponseModel):
    """The number of deliveries that are sent again."""

    redriven: int


class WebhookTrial(ResponseModel):
    """The outcome of a test delivery."""

    id: str
    """Its ``webhook-id``."""
    delivered: bool
    problem: str | None


WEBHOOKS: Final[Responses] = answers(WebhookViews, description="The tenant's webhooks.")
WEBHOOK_MADE: Final[Responses] = answers(WebhookMade, description=f"{DONE} The secret is shown only once.")
WEBHOOK_DEAD_LETTERS: Final[Responses] = answers(WebhookDeadLetters, description="The dead letters, oldest change first.")
WEBHOOK_REDRIVEN: Final[Responses] = answers(WebhookRedriven, description="They are sent again.")
WEBHOOK_TRIAL: Final[Responses] = answers(WebhookTrial, description="The outcome.")
