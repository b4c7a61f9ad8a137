"""New storage for a broker, written without a JVM: Kafka's own tool takes a second for these two files."""

import base64
import uuid
from importlib import resources
from pathlib import Path
from typing import Final

CLUSTER_ID: Final = "VarveEmbeddedKafka000A"
_FEATURES: Final = resources.files("varve.embedded").joinpath("kafka_bootstrap.checkpoint")
"""The features that ``kafka-storage format`` of :data:`varve.embedded.jars.KAFKA_VERSION` enables, in a snapshot as it writes one."""


def format_storage(logs: Path, *, node: int) -> None:
    """Formats the folder of a broker's logs, unless it is formatted already.

    Args:
        logs: The folder; created if it is missing.
        node: The broker's ``node.id``, with which Kafka compares the storage's at each start.

    Raises:
        OSError: If it cannot be written.
    """
    properties = logs / "meta.properties"
    if properties.exists():
        return
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "bootstrap.checkpoint").write_bytes(_FEATURES.read_bytes())
    # The properties are last and replaced as a whole: after a crash before that, the next start formats again.
    draft = logs / ".meta.properties"
    draft.write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id={node}\ndirectory.id={_directory_id()}\n")
    draft.replace(properties)


def _directory_id() -> str:
    """A random UUID in Kafka's form."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
