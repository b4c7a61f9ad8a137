"""The note that a running stack leaves in its data folder, so that other commands find it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from runtime.settings import ClientSettings, KafkaSettings, RedisSettings, Settings, StoreSettings
from varve.embedded.stack import EmbeddedStack
from varve.supervisor.process import writing

_Value = TypeVar("_Value")


class StackNote(BaseModel):
    """Where a running stack is reached."""

    model_config = ConfigDict(frozen=True)

    pid: int
    """Of the supervisor."""
    bootstrap: str
    redis_url: str
    edge_socket: Path | None
    service_url: str
    probes: Mapping[str, str]
    """Each stage's health page."""
    tenant: str
    """The tenant that the stack made for its developer."""
    api_key: str

    @classmethod
    def of(cls, stack: EmbeddedStack, *, tenant: str, api_key: str) -> Self:
        """The note of this process's stack."""
        return cls(
            pid=os.getpid(),
            bootstrap=stack.settings.kafka.bootstrap,
            redis_url=stack.settings.redis.url,
            edge_socket=stack.settings.store.socket,
            service_url=stack.service_url,
            probes=stack.probes,
            tenant=tenant,
            api_key=api_key,
        )

    @classmethod
    def find(cls, data: Path) -> Self | None:
        """The note of the stack that runs on a folder; None where none runs."""
        try:
            note = cls.model_validate(orjson.loads(_path(data).read_bytes()))
            os.kill(note.pid, 0)
        except (OSError, orjson.JSONDecodeError, ValidationError):
            return None
        return note

    def write(self, data: Path) -> None:
        """Leaves the note, readable by its owner only.

        Raises:
            AccessDeniedError: If the folder cannot be written.
            DiskFullError: If there is no space in it.
        """
        path = _path(data)
        with writing(path):
            path.unlink(missing_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_INDENT_2))

    @staticmethod
    def remove(data: Path) -> None:
        """Takes the note away; harmless when repeated."""
        _path(data).unlink(missing_ok=True)

    def applied_to(self, settings: Settings) -> Settings:
        """The settings with the stack's addresses wherever they are still the defaults."""
        kafka, redis, store, client = settings.kafka, settings.redis, settings.store, settings.client
        return settings.model_copy(
            update={
                "kafka": kafka.model_copy(update={"bootstrap": _unless_set(kafka.bootstrap, KafkaSettings().bootstrap, self.bootstrap)}),
                "redis": redis.model_copy(update={"url": _unless_set(redis.url, RedisSettings().url, self.redis_url)}),
                "store": store.model_copy(update={"socket": _unless_set(store.socket, StoreSettings().socket, self.edge_socket)}),
                "client": client.model_copy(
                    update={
                        "url": _unless_set(client.url, ClientSettings().url, self.service_url),
                        "api_key": _unless_set(client.api_key, ClientSettings().api_key, SecretStr(self.api_key)),
                    }
                ),
            }
        )


def _unless_set(value: _Value, default: _Value, found: _Value) -> _Value:
    return found if value == default else value


def _path(data: Path) -> Path:
    return data / "stack.json"
