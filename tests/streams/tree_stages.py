"""The stages over events with vectors, for trees."""

from memory.keys import encode_key
from memory.records import Extraction, Memory
from memory.vectors import encode_vector
from tests.stores.factories import embedding
from tests.streams.timelines_flow import TENANT, USER, Timelines, extraction


class Trees(Timelines):
    """The stages, with vectors in the extractions."""

    async def embed(self, number: int, texts: list[str]) -> Extraction:
        """A window whose events have vectors."""
        what = extraction(number, number / 24, texts)
        events = [each.model_copy(update={"vector": encode_vector(embedding(each.content).dense)}) for each in what.events]
        what = what.model_copy(update={"events": events})
        self._append("extractions", encode_key(TENANT, USER), what.to_json())
        await self._go_on()
        return what

    def nodes(self) -> dict[str, Memory]:
        """The nodes' memories by id."""
        return {each.id: each for each in self.memories.values() if each.kind == "summary"}
