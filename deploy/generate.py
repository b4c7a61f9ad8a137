"""``python -m deploy.generate``: writes the files that follow from the code, and prints those that changed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from api.app import create_app
from deploy.chart.values_schema import values_schema
from deploy.chart.values_table import readme_of
from deploy.grafana.boards import DASHBOARDS
from deploy.reference_pages import cli_markdown, compose_settings, decisions_markdown, metrics_markdown, runbooks_markdown, topics_markdown
from deploy.sync_client import SOURCE, TARGET, sync_client
from memory.wire_schema import asyncapi, records_schema
from runtime.settings import Settings
from runtime.settings_table import settings_markdown
from streams.stages.catalog import STAGES

ROOT: Final = Path(__file__).parents[1]
CHART: Final = Path("helm/varve")


def generated() -> Mapping[Path, str]:
    """The content of each generated file, by its path in the repository."""
    stages = {name: {"source": stage.source.name} for name, stage in STAGES.items()}
    return {
        Path("docs/reference/settings.md"): settings_markdown(),
        Path("docs/reference/cli.md"): cli_markdown(),
        Path("docs/reference/topics.md"): topics_markdown(),
        Path("docs/reference/metrics.md"): metrics_markdown(),
        Path("docs/internals/adr/README.md"): decisions_markdown(),
        Path("docs/operate/runbooks/README.md"): runbooks_markdown(),
        Path("docs/reference/records.schema.json"): json.dumps(records_schema(), indent=2) + "\n",
        Path("docs/reference/asyncapi.json"): json.dumps(asyncapi(), indent=2) + "\n",
        Path("docs/reference/openapi.json"): json.dumps(create_app(Settings()).openapi(), indent=2) + "\n",
        CHART / "files" / "stages.yaml": "# From streams/stages/catalog.py: make generated\n" + yaml.safe_dump(stages, sort_keys=False),
        Path("deploy/compose-settings.yaml"): compose_settings(),
        TARGET: sync_client((ROOT / SOURCE).read_text()),
        CHART / "values.schema.json": json.dumps(values_schema(), indent=2) + "\n",
        CHART / "README.md": readme_of((ROOT / CHART / "values.yaml").read_text()),
        **{Path(f"deploy/grafana/dashboards/{each.name}.json"): json.dumps(each.json(), indent=2) + "\n" for each in DASHBOARDS},
    }


def stale() -> dict[Path, str]:
    """The generated files that are missing or out of date, with their right content."""
    return {path: text for path, text in generated().items() if not (ROOT / path).is_file() or (ROOT / path).read_text() != text}


if __name__ == "__main__":
    changed = stale()
    for path, text in changed.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
        print(path)
    print(f"written: {len(changed)} generated files that were out of date")
