"""How much memory a process holds."""

import os
import subprocess
from pathlib import Path


def resident_bytes(pid: int) -> int | None:
    """The resident set of a process in bytes; None when it has ended."""
    proc = Path("/proc")
    if (proc / "self" / "statm").exists():
        try:
            return int((proc / str(pid) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (FileNotFoundError, ProcessLookupError):
            return None
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout.strip()
    return int(said) * 1024 if said else None
