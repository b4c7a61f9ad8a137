"""Helm for tests, run by an environment that has its SDK: reads JSON from standard input, writes JSON to standard output.

Given are the chart's folder and a list of values; of each comes either ``{"rendered": {file: text}}`` or ``{"error": text}``.
"""

import json
import sys
from typing import Any

import helm_python as helm


def render(chart: helm.Chart, values: dict[str, Any]) -> dict[str, Any]:
    try:
        chart.validate_schema(values)
        return {"rendered": chart.render(values=values, name="release", namespace="memory", revision=3)}
    except helm.HelmError as error:
        return {"error": str(error)}


def main() -> None:
    given = json.load(sys.stdin)
    with helm.Chart.load(given["chart"]) as chart:
        outcomes = [render(chart, values) for values in given["values"]]
    lints = [helm.lint(given["chart"], values) for values in given.get("lint", [])]
    json.dump({"outcomes": outcomes, "lints": lints}, sys.stdout, default=str)


if __name__ == "__main__":
    main()
