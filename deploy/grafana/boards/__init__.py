"""The four dashboards. ``or vector(0)`` stands where there is no series as long as all is well."""

from typing import Final

from deploy.grafana.boards.llm import LLM
from deploy.grafana.boards.overview import OVERVIEW
from deploy.grafana.boards.recall import RECALL
from deploy.grafana.boards.stages import STAGES

DASHBOARDS: Final = (OVERVIEW, STAGES, LLM, RECALL)
