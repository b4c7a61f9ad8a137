"""The fields of explained results."""

import orjson

from api.http.json_http import to_json
from api.reads.memory_fields import hit_fields
from retrieval.retrievers.base import further_hit
from tests.stores.factories import memory


def test_a_hit_without_ranks_is_valid_json() -> None:
    hit = further_hit(memory("Ann rides a bicycle."), 0.5, {"origin": 0.5}, path="keywords", keyword="bicycle")
    fields = orjson.loads(to_json(hit_fields(hit, explain=True)))
    assert (fields["ranks"], fields["keyword"]) == ({}, "bicycle")
