"""An extractor that reads each window by :func:`memory.messages.extraction_view.extraction_view`."""

from extraction.assemble import build_extraction, message_ids
from extraction.bounds import MAX_EVIDENCE
from extraction.drafts import Draft
from extraction.port import ExtractionContext, ExtractorLayer
from memory.messages.extraction_view import ExtractionView, extraction_view
from memory.records import Dropped, Extraction, Window
from memory.schema import MemorySchema


class ViewedExtractor(ExtractorLayer):
    """Gives another extractor the messages to extract from, and names the window's messages as evidence."""

    async def extract(self, window: Window, schema: MemorySchema, context: ExtractionContext) -> Extraction:
        """See :meth:`extraction.port.Extractor.extract`. A window without a message to extract from costs no call."""
        view = extraction_view(window)
        if not view.is_changed:
            return await self._extractor.extract(window, schema, context)
        if not view.messages:
            nothing = build_extraction(Draft(), window=window, schema=schema, extractor=self.name, generation=context.generation, usage=())
            return nothing.model_copy(update={"dropped": _dropped(view)})
        names = [f"{window.id}/{index}" for index in range(len(view.messages))]
        messages = [each.model_copy(update={"id": name}) for each, name in zip(view.messages, names, strict=True)]
        found = await self._extractor.extract(window.model_copy(update={"messages": messages}), schema, context)
        return _of_window(found, window, view, names)


def _of_window(found: Extraction, window: Window, view: ExtractionView, names: list[str]) -> Extraction:
    """An extraction of a view as one of its window. ``names`` are the ids that the view's messages had in it."""
    ids = message_ids(window)
    sources = {name: [ids[index] for index in indices] for name, indices in zip(names, view.sources, strict=True)}

    def evidence(names_in_view: list[str]) -> list[str]:
        return list(dict.fromkeys(source for each in names_in_view for source in sources[each]))[:MAX_EVIDENCE]

    return found.model_copy(
        update={
            "message_ids": ids,
            "segments": [each.model_copy(update={"ranges": view.source_ranges(each.ranges)}) for each in found.segments],
            "events": [each.model_copy(update={"message_ids": evidence(each.message_ids)}) for each in found.events],
            "patches": [each.model_copy(update={"message_ids": evidence(each.message_ids)}) for each in found.patches],
            "dropped": [*found.dropped, *_dropped(view)],
            "window_end": max(each.event_time for each in window.messages),
        }
    )


def _dropped(view: ExtractionView) -> list[Dropped]:
    return [Dropped(what="message", reason=reason, count=count) for reason, count in sorted(view.dropped.items())]
