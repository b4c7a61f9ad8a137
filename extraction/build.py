"""Builds the extractor that the settings ask for."""

from extraction.deduplication import Thresholds
from extraction.method import MethodExtractor
from extraction.offline.drafting import stated_events
from extraction.offline.events.quotations import quotations
from extraction.offline.extractor import OfflineExtractor
from extraction.offline.kept_literals import prepare_rules
from extraction.one_pass.extractor import OnePassExtractor
from extraction.one_pass.prompt.limits import PromptLimits
from extraction.port import Extractor
from extraction.shared_windows import PerUserExtractor
from extraction.viewed import ViewedExtractor
from models.embedding.port import Embedder
from models.llm.port import LLM
from runtime.clocks import SystemClock
from runtime.metrics import Metrics, metrics
from runtime.settings import Settings


def build_extractor(settings: Settings, *, embedder: Embedder, llm: LLM | None, own_metrics: Metrics | None = None) -> Extractor:
    """The one-pass extractor over an LLM, or the offline one where there is none, within the layers that both need.

    A window passes :class:`ViewedExtractor` (which messages are read), then :class:`MethodExtractor` (what the schema's method adds), then
    the extractor itself.

    Args:
        settings: The model's context, the prompt's caps, and when two events are one.
        embedder: Shared with others; not closed with the extractor.
        llm: The endpoint; closed with the extractor.
        own_metrics: The process's, if none are given.

    Raises:
        ValueError: If the similarities of the settings contradict each other.
    """
    extraction = settings.extraction
    thresholds = Thresholds.of(extraction)
    prepare_rules(settings.cache_path)
    extractor: Extractor = PerUserExtractor(OfflineExtractor(embedder=embedder, thresholds=thresholds))
    if llm is not None:
        extractor = OnePassExtractor(
            llm=llm,
            embedder=embedder,
            settings=settings.llm,
            limits=PromptLimits.of(extraction),
            thresholds=thresholds,
            clock=SystemClock(),
            quotations=quotations,
            stated_events=stated_events,
            metrics=own_metrics or metrics(),
            beyond_budget=extractor,
        )
    return ViewedExtractor(MethodExtractor(extractor, embedder))
