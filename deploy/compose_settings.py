"""``deploy/compose-settings.yaml``: the settings that a container of the Compose file takes from who starts it.

Compose hands over nothing that a file does not name: a setting that is missing here is set in vain, and nobody says so.
"""

import re
from pathlib import Path
from typing import Final

from runtime.settings import Settings
from runtime.settings_table import setting_rows

_DEPLOY: Final = Path(__file__).parent
_ELSEWHERE: Final = frozenset(
    {
        "VARVE_DELIVERY__DRAIN_TIMEOUT_S",  # The grace periods go by its default.
        "VARVE_KAFKA__GROUP_INSTANCE_ID",  # It is another for each worker.
        "VARVE_SERVICE__PORT",  # The published one.
        "VARVE_STORE__SOCKET",
        "VARVE_TENANTS_FILE",
    }
)
"""Settings that have no meaning there, or must differ between processes."""
_CLIENT: Final = "VARVE_CLIENT__"
"""Of commands and the canary: no worker needs a tenant's key."""
_HEAD: Final = """\
# From runtime/settings: make generated
# What deploy/compose.yaml does not say itself comes from the environment, or from deploy/.env; unset, it is the default.
"""


def compose_settings() -> str:
    """The text of the file."""
    fixed = _named_in("Dockerfile", r"\b(VARVE_[A-Z0-9_]+)=") | _named_in("compose.yaml", r"^ +(VARVE_[A-Z0-9_]+): \S")
    names = [row.name for row in setting_rows(Settings.model_construct())]
    passed = [name for name in names if name not in fixed | _ELSEWHERE and not name.startswith(_CLIENT)]
    return _HEAD + "services:\n  varve:\n    environment:\n" + "".join(f"      {name}:\n" for name in passed)


def _named_in(file: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, (_DEPLOY / file).read_text(), re.MULTILINE))
