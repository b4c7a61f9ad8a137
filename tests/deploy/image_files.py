"""The files that describe the image and its use: the Compose file and the lock."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+) ", lock.read_text(), re.MULTILINE))


IMAGE = pins(ROOT / "deploy" / "requirements" / "image.lock")
