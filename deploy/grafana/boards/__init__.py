"""The four dashboards. ``or vector(0)`` gives 0 for series that exist only after a failure."""

from typing import Final

from deploy.grafana.boards.llm import LLM
from deploy.grafana.boards.overview import OVERVIEW
from deploy.grafana.boards.recall import RECALL
from deploy.grafana.boards.stages import STAGES

DASHBOARDS: Final = (OVERVIEW, STAGES, LLM, RECALL)
