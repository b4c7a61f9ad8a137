"""Signatures of deliveries, as in Standard Webhooks: HMAC-SHA256 of id, time and body.

A secret is derived from the installation's master secret, the tenant, the webhook and the secret's id. So the control log contains no
secret, and a webhook's secret is shown only when it is created.
"""

import base64
import hmac
from collections.abc import Iterable, Sequence
from typing import Final

from api.webhooks.errors import SecretMissingError
from memory.signatures import derive_key
from runtime.settings import SigningSettings

PREFIX: Final = "whsec_"


class SigningSecrets:
    """The signing secrets of all webhooks of an installation.

    Args:
        masters: The master secrets, the current one first. Deliveries are signed with the secrets of all of them.
    """

    def __init__(self, masters: Iterable[str]) -> None:
        self._masters = [each.encode() for each in masters]

    @classmethod
    def of(cls, settings: SigningSettings) -> "SigningSecrets":
        """The secrets of the settings.

        Raises:
            SecretMissingError: If there is no master secret.
        """
        if settings.secret is None:
            raise SecretMissingError(
                "webhooks need a master secret: set VARVE_SIGNING__SECRET in every process (`varve tenants signing-secret` prints one)"
            )
        return cls(each.get_secret_value() for each in (settings.secret, *settings.previous_secrets))

    def shown(self, tenant: str, webhook: str, secret_id: str) -> str:
        """A secret in the form that receivers configure.

        Args:
            tenant: The tenant.
            webhook: The webhook's id.
            secret_id: The secret's id.
        """
        return PREFIX + base64.b64encode(self._keys(tenant, webhook, secret_id)[0]).decode()

    def headers(self, tenant: str, webhook: str, secret_ids: Sequence[str], *, message_id: str, now_s: int, body: bytes) -> dict[str, str]:
        """The headers that identify and sign a delivery, with one signature per secret.

        Args:
            tenant: The tenant.
            webhook: The webhook's id.
            secret_ids: The ids of the valid secrets.
            message_id: The delivery's id.
            now_s: The time, in seconds since the epoch.
            body: The body, exactly as sent.
        """
        signed = f"{message_id}.{now_s}.".encode() + body
        keys = dict.fromkeys(key for secret_id in secret_ids for key in self._keys(tenant, webhook, secret_id))
        signatures = (base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in keys)
        return {
            "webhook-id": message_id,
            "webhook-timestamp": str(now_s),
            "webhook-signature": " ".join(f"v1,{each}" for each in signatures),
        }

    def _keys(self, tenant: str, webhook: str, secret_id: str) -> list[bytes]:
        return [derive_key(master, "webhook", "v1", tenant, webhook, secret_id) for master in self._masters]
