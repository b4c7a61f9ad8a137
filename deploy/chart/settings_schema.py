"""Settings as a JSON Schema of the chart's ``config`` and ``secrets``: a name or a value that Varve would refuse, Helm refuses first."""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel

from runtime.settings import Settings
from runtime.settings.group import Group

OWN: Final = frozenset(
    {
        "VARVE_CACHE",
        "VARVE_DATA",
        "VARVE_DELIVERY__DRAIN_TIMEOUT_S",
        "VARVE_KAFKA__BOOTSTRAP",
        "VARVE_KAFKA__GROUP_INSTANCE_ID",
        "VARVE_KAFKA__MIN_INSYNC_REPLICAS",
        "VARVE_KAFKA__PARTITIONS",
        "VARVE_KAFKA__REPLICATION_FACTOR",
        "VARVE_KAFKA__SESSION_TIMEOUT_S",
        "VARVE_KAFKA__TOPIC_PREFIX",
        "VARVE_LOG__FORMAT",
        "VARVE_METRICS_HOST",
        "VARVE_METRICS_PORT",
        "VARVE_REDIS__URL",
        "VARVE_SERVICE__HOST",
        "VARVE_SERVICE__PORT",
        "VARVE_STORE__GRPC_PORT",
        "VARVE_STORE__KIND",
        "VARVE_STORE__SOCKET",
        "VARVE_STORE__URL",
        "VARVE_TENANTS_FILE",
    }
)
"""Settings that the chart derives from its own values, or that have no meaning in a cluster."""

_CLIENT: Final = "VARVE_CLIENT__"
_NOT_OF_A_VALUE: Final = ("default", "description", "title")


def config_schema() -> dict[str, Any]:
    """The settings that ``config`` may have: no secrets, and none that the chart sets itself."""
    properties = {name: schema for name, schema in _settings() if name not in OWN and not _holds_secrets(schema)}
    return {"type": "object", "additionalProperties": False, "properties": properties}


def secrets_schema() -> dict[str, Any]:
    """Settings that may come from a secret: all except those that the chart sets, and the address of Redis with its password."""
    names = sorted({name for name, _ in _settings() if name not in OWN} | {"VARVE_REDIS__URL"})
    return {"type": "object", "additionalProperties": {"$ref": "#/$defs/secretKey"}, "propertyNames": {"enum": names}}


def _settings() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in _of_group(Settings, str(Settings.model_config["env_prefix"])):
        if not name.startswith(_CLIENT):
            yield name, schema


def _of_group(group: type[BaseModel], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    schemas = group.model_json_schema()["properties"]
    for name, info in group.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, Group):
            yield from _of_group(info.annotation, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", _plain(schemas[name])


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A value that is set; leave a setting out to unset it."""
    kept = {key: value for key, value in schema.items() if key not in _NOT_OF_A_VALUE}
    choices = [choice for choice in kept.pop("anyOf", []) if choice.get("type") != "null"]
    if len(choices) == 1:
        kept |= choices[0]
    elif choices:
        kept["anyOf"] = choices
    return kept


def _holds_secrets(schema: dict[str, Any]) -> bool:
    text = str(schema)
    return "'writeOnly': True" in text or "'password'" in text or "$ref" in text
