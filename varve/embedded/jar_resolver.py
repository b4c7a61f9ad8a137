"""Resolves Kafka's Maven coordinates into a folder, in a separate process: jgo takes its configuration from the environment.

``python -m varve.embedded.jar_resolver COORDINATES FOLDER`` prints the path of each jar.
"""

import logging
import sys
from pathlib import Path

from jgo.env import EnvironmentBuilder, LinkStrategy
from jgo.maven import MavenContext

TIMEOUT_S = 60


def main(coordinates: str, folder: Path) -> None:
    """Prints the path of each jar, a line each."""
    logging.getLogger("jgo").setLevel(logging.CRITICAL)
    context = MavenContext(repo_cache=folder / "maven", timeout=TIMEOUT_S)
    builder = EnvironmentBuilder(context=context, cache_dir=folder / "jgo", link_strategy=LinkStrategy.HARD)
    for jar in builder.from_endpoint(coordinates).all_jars:
        print(jar)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
