"""The file that a running stack keeps in its data folder, so that other commands find it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from runtime.settings import Settings
from runtime.settings.group import Group
from varve.embedded.private_files import write_private
from varve.supervisor.start_errors import explained_os_errors

if TYPE_CHECKING:
    from varve.embedded.stack import EmbeddedStack

_Group = TypeVar("_Group", bound=Group)


class StackFile(BaseModel):
    """Addresses of a running stack: the content of its file."""

    model_config = ConfigDict(frozen=True)

    pid: int
    """Process id of the supervisor."""
    bootstrap: str
    topic_prefix: str
    control_prefix: str | None
    partitions: int
    replication_factor: int
    min_insync_replicas: int
    redis_url: str
    edge_socket: Path | None
    service_url: str
    probes: Mapping[str, str]
    """Each stage's health page, and the service's."""
    signing_secret: str | None
    """The master secret; None: records are not sealed."""
    webhooks_allow_private: bool
    """Whether webhooks may have `http` URLs and private addresses."""
    tenant: str
    """The tenant that the stack made for its developer."""
    api_key: str

    @classmethod
    def of(cls, stack: "EmbeddedStack", *, tenant: str, api_key: str) -> Self:
        """Describes a stack that this process runs."""
        secret, kafka = stack.settings.signing.secret, stack.settings.kafka
        return cls(
            pid=os.getpid(),
            bootstrap=kafka.bootstrap,
            topic_prefix=kafka.topic_prefix,
            control_prefix=kafka.control_prefix,
            partitions=kafka.partitions,
            replication_factor=kafka.replication_factor,
            min_insync_replicas=kafka.min_insync_replicas,
            redis_url=stack.settings.redis.url,
            edge_socket=stack.settings.store.socket,
            service_url=stack.service_url,
            probes=stack.probes,
            signing_secret=None if secret is None else secret.get_secret_value(),
            webhooks_allow_private=stack.settings.webhooks.allow_private,
            tenant=tenant,
            api_key=api_key,
        )

    @classmethod
    def find(cls, data: Path) -> Self | None:
        """Reads the file of the stack that runs on a data folder; None if none runs."""
        try:
            found = cls.model_validate(orjson.loads(_path(data).read_bytes()))
            os.kill(found.pid, 0)
        except (OSError, orjson.JSONDecodeError, ValidationError):
            return None
        return found

    def write(self, data: Path) -> None:
        """Writes the file, readable by its owner only.

        Raises:
            AccessDeniedError: If the folder cannot be written.
            DiskFullError: If there is no space in it.
        """
        path = _path(data)
        with explained_os_errors(path):
            path.unlink(missing_ok=True)
            write_private(path, orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_INDENT_2))

    @staticmethod
    def remove(data: Path) -> None:
        """Removes the file; harmless when repeated."""
        _path(data).unlink(missing_ok=True)

    def apply_to(self, settings: Settings) -> Settings:
        """The settings with the stack's addresses and key. Explicitly set ones stay, even if they equal the defaults."""
        kafka = {
            "bootstrap": self.bootstrap,
            "topic_prefix": self.topic_prefix,
            "control_prefix": self.control_prefix,
            "partitions": self.partitions,
            "replication_factor": self.replication_factor,
            "min_insync_replicas": self.min_insync_replicas,
        }
        secret = {} if self.signing_secret is None else {"secret": SecretStr(self.signing_secret)}
        return settings.model_copy(
            update={
                "kafka": _unless_given(settings.kafka, **kafka),
                "redis": _unless_given(settings.redis, url=self.redis_url),
                "store": _unless_given(settings.store, socket=self.edge_socket),
                "signing": _unless_given(settings.signing, **secret),
                "webhooks": _unless_given(settings.webhooks, allow_private=self.webhooks_allow_private),
                "client": _unless_given(settings.client, url=self.service_url, api_key=SecretStr(self.api_key)),
            }
        )


def _unless_given(group: _Group, **values: Any) -> _Group:
    return group.model_copy(update={name: value for name, value in values.items() if name not in group.model_fields_set})


def _path(data: Path) -> Path:
    return data / "stack.json"
