"""The command lines of the benchmarks, and their reports."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def benchmark_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """The command line of ``python -m benchmarks.NAME``, with ``--report``.

    Args:
        name: The module.
        description: Its docstring, which is its help.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=(description or "").replace("``", "`"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = Path(f"build/reports/{name}.json")
    parser.add_argument("--report", type=Path, default=default, help="where the report is written as JSON; default: %(default)s")
    return parser


def p50(values: Sequence[float], digits: int = 2) -> float:
    """The median, rounded."""
    return round(float(np.percentile(values, 50)), digits)


def p95(values: Sequence[float], digits: int = 2) -> float:
    """The 95th percentile, interpolated and rounded."""
    return round(float(np.percentile(values, 95)), digits)


def write_report(path: Path, results: object) -> None:
    """Writes results as JSON, in a folder that is made if it is missing, and prints them; the last line names the file."""
    text = json.dumps(results, indent=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")
    print(text)
    print(f"measured: {path}")
