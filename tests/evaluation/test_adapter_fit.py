import random
from pathlib import Path

import numpy as np
import pytest

import evaluation.adapter
from evaluation.adapter.examples import Example
from evaluation.data_files import read_entries
from evaluation.locomo import read_locomo
from evaluation.recall.corpus import UNANSWERABLE, questions_of
from models.embedding import weights
from models.embedding.minilm import MiniLMEncoder
from models.embedding.tokens import load_tokenizer
from models.embedding.weights import PROJECTION_FILE

CONVERSATIONS = Path(evaluation.adapter.__file__).with_name("conversations.json")

EXAMPLES = [
    Example(question, question, (answer,), tuple(f"Ada (1 May 2025): {each}" for each in ("The bus was late again.", "I baked rye bread.")))
    for question, answer in (
        ("What does Bo play?", "Bo (1 May 2025): My cello needs new strings before the concert."),
        ("Where does Bo live?", "Bo (2 May 2025): Our flat in Riga has damp walls."),
    )
] * 16


def test_every_question_has_evidence_in_its_conversation() -> None:
    samples, windows = read_entries(CONVERSATIONS), read_locomo(CONVERSATIONS)

    for sample, conversation in zip(samples, windows, strict=True):
        messages = {message.id for each in conversation for message in each.window.messages}
        questions = questions_of(sample, CONVERSATIONS)
        assert len(questions) == len(sample["qa"]) >= 20
        for question in questions:
            assert messages.issuperset(question.evidence), question.text
            assert question.category < UNANSWERABLE


def test_no_two_conversations_are_the_same() -> None:
    texts = [turn["text"] for sample in read_entries(CONVERSATIONS) for turn in sample["conversation"]["session_1"]]

    assert len(set(texts)) > 0.99 * len(texts)


def test_half_of_the_others_are_drawn_from_the_nearest() -> None:
    example = Example("?", "?", ("answer",), tuple(map(str, range(90))))

    drawn = [example.drawn_others(4, random.Random(seed)) for seed in range(50)]

    assert all(len({*each}) == 4 and sum(int(other) < 20 for other in each) >= 2 for each in drawn)
    assert {int(other) for each in drawn for other in each} - {*range(40)}


def test_where_there_are_few_others_all_are_drawn() -> None:
    assert sorted(Example("?", "?", ("answer",), ("a", "b", "c")).drawn_others(4, random.Random(1))) == ["a", "b", "c"]


class TestWithTorch:
    """Torch takes gigabytes, and nobody but who fits the adapter needs it: ``pip install torch`` to run these."""

    @pytest.fixture(autouse=True)
    def torch(self) -> None:
        pytest.importorskip("torch", reason="torch is not installed")

    def test_torch_equals_the_embedded_model(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from evaluation.adapter.bert import embed, published_weights

        monkeypatch.setattr(weights, "_adapter", dict)
        texts = ["My cello needs new strings, before the concert.", "Where?", "?!"]
        expected = MiniLMEncoder(cache=tmp_path, compute_type="float32", threads=1).encode(texts)

        found = embed(published_weights(), {}, [load_tokenizer().encode(each).ids for each in texts], fits=False)

        for row, (dense, late) in enumerate(expected):
            np.testing.assert_allclose(found.dense[row].numpy(), dense, atol=1e-4)
            np.testing.assert_allclose(found.late[row][found.is_token[row]].numpy(), late, atol=1e-4)

    def test_fitting_lowers_the_loss(self) -> None:
        import torch

        from evaluation.adapter.bert import new_adapter, published_weights
        from evaluation.adapter.training import drawn, fitted_adapter, loss_of

        tokenizer = load_tokenizer()
        weights = published_weights()
        projection = np.load(PROJECTION_FILE)
        fitted = fitted_adapter(EXAMPLES, lambda text: tokenizer.encode(text).ids, projection=projection, present={}, epochs=4, seed=1)
        batch = drawn(EXAMPLES[:16], random.Random(2))

        torch.manual_seed(3)
        before, after = (
            float(loss_of(batch, weights, each, lambda text: tokenizer.encode(text).ids, torch.tensor(projection).float()))
            for each in (new_adapter(weights), {name: torch.tensor(matrix).float() for name, matrix in fitted.items()})
        )

        assert after < before

    def test_a_second_memory_that_answers_is_no_wrong_one(self) -> None:
        from evaluation.adapter.training import Batch, also_answering

        both = Example("?", "?", ("one", "two"), ())
        other = Example("!", "!", ("three",), ())

        masked = also_answering(Batch([both, other], ["one", "three", "two", "four"]))

        assert masked.tolist() == [[False, False, True, False], [False, False, False, False]]
