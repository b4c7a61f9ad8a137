"""Reports of the benchmarks."""

import json
from pathlib import Path


def write_report(path: Path, results: object) -> None:
    """Writes results as JSON, in a folder that is made if it is missing, and prints them; the last line names the file."""
    text = json.dumps(results, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    print(text)
    print(f"measured: {path}")
