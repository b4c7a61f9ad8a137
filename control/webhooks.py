"""A tenant's webhooks: the receivers of its memories' changes. Pure.

Signing secrets are not stored here: they are derived from the master secret (:mod:`api.webhooks.signing`).
"""

from datetime import datetime
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AwareDatetime, Field, StringConstraints

from control.document_base import Label
from memory.records.base import Value

MOST_WEBHOOKS: Final = 10
"""Most webhooks of one tenant."""
MOST_SECRETS: Final = 5
"""Most secrets of one webhook at a time."""

WebhookId = Annotated[str, StringConstraints(pattern=r"^wh_[0-9a-z]{4,32}$")]
SecretId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{4,32}$")]
WebhookUrl = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
MemoryKind = Literal["event", "entity", "summary", "segment"]


class WebhookSecret(Value):
    """A signing secret of a webhook."""

    id: SecretId
    until: AwareDatetime | None = None
    """Deliveries are not signed with it from this time on. Default: no limit."""

    def is_valid(self, now: datetime) -> bool:
        """Whether deliveries are signed with it."""
        return self.until is None or now < self.until


class Webhook(Value):
    """A receiver of the changes of a tenant's memories."""

    id: WebhookId
    url: WebhookUrl
    label: Label = ""
    kinds: tuple[MemoryKind, ...] = ()
    """Only changes of these kinds of memories; a deletion does not say its kind, so all deletions are sent. Empty: all kinds."""
    with_content: bool = True
    """Whether deliveries contain the memory. False: only its id, kind, type and version."""
    created: AwareDatetime
    """Earlier changes are not sent."""
    secrets: tuple[WebhookSecret, ...] = Field(min_length=1)

    @property
    def origin(self) -> str:
        """Scheme and host of the URL. The rest may contain a secret of the receiver."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname or ''}"

    def valid_secrets(self, now: datetime) -> tuple[WebhookSecret, ...]:
        """The secrets with which a delivery is signed, oldest first."""
        return tuple(each for each in self.secrets if each.is_valid(now))

    def wants(self, kind: str) -> bool:
        """Whether changes of memories of a kind are sent."""
        return not self.kinds or kind in self.kinds
