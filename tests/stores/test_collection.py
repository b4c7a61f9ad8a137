"""A collection records how its vectors and terms are computed, and is refused if the process would compute them differently."""

from pathlib import Path

import orjson
import pytest

from stores.collection import VECTORS_VERSION, check_metadata, metadata_of
from stores.edge.shard import Shard
from stores.errors import ModelMismatchError
from stores.lexical_analysis import ANALYZER_VERSION


def test_metadata_of_the_same_kind_is_accepted() -> None:
    check_metadata(metadata_of("minilm", 384, 64), metadata_of("minilm", 384, 64), collection="c")


@pytest.mark.parametrize(
    ("existing", "word"),
    [
        ({**metadata_of("minilm", 384, 64), "model": "e5"}, "by e5"),
        ({**metadata_of("minilm", 384, 64), "dimension": 8}, "8 dimensions"),
        ({**metadata_of("minilm", 384, 64), "late_dimension": 32}, "token vectors of 32"),
        (metadata_of("minilm", 384, None), "no token vectors"),
        ({**metadata_of("minilm", 384, 64), "vectors_version": VECTORS_VERSION + 1}, f"vector format {VECTORS_VERSION + 1}"),
        ({**metadata_of("minilm", 384, 64), "payload_version": 2}, "payload 2"),
        ({"model": "minilm", "dimension": 384, "analyzer_version": ANALYZER_VERSION}, "vector format 1"),
        ({**metadata_of("minilm", 384, 64), "analyzer_version": ANALYZER_VERSION + 1}, f"lexical analyzer {ANALYZER_VERSION + 1}"),
        ({"model": "minilm", "dimension": 384}, "lexical analyzer 1"),
        ({}, "by None"),
    ],
)
def test_other_metadata_is_refused(existing: dict[str, object], word: str) -> None:
    with pytest.raises(ModelMismatchError, match=f"points of c .*{word}.*rebuild the index"):
        check_metadata(existing, metadata_of("minilm", 384, 64), collection="c")


def test_a_shard_of_an_older_version_is_refused(tmp_path: Path) -> None:
    shard = Shard(tmp_path)
    shard.prepare("minilm", 4, 3)
    shard.close()
    (tmp_path / "model.json").write_bytes(orjson.dumps({"model": "minilm", "dimension": 4}))

    reopened = Shard(tmp_path)

    with pytest.raises(ModelMismatchError, match=r"vector format 1, payload 1 and lexical analyzer 1.*rebuild the index"):
        reopened.prepare("minilm", 4, 3)
    reopened.close()
