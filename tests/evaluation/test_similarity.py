"""The similarity at which two values count as one, with the real model."""

import argparse
from pathlib import Path

import pytest

from evaluation.errors import DataSetError
from evaluation.similarity import run, values_in

VALUES = "clothing store\ndance studio\n\nonline  clothing store\nfashion boutique\nclothing store\nrelease 2.3\nrelease 2.4\n"


def test_a_lower_similarity_joins_more(tmp_path: Path) -> None:
    data = tmp_path / "topics.txt"
    data.write_text(VALUES)
    report = run(argparse.Namespace(data=data, similarity=[0.7, 0.85]))
    assert report["values"] == 6
    assert report["by_similarity"] == {
        "0.7": {"things": 4, "joined": {"clothing store": ["online clothing store", "fashion boutique"]}},
        "0.85": {"things": 5, "joined": {"clothing store": ["online clothing store"]}},
    }


@pytest.mark.parametrize(("content", "said"), [(b"\n \n", "no value"), (b"\xff\xfe", "no text")])
def test_a_file_without_values_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "values.txt"
    path.write_bytes(content)
    with pytest.raises(DataSetError, match=said):
        values_in(path)
