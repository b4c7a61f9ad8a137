"""The fit of the gap model finds the signals that separate segments, and reports data that it cannot learn from."""

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.errors import DataSetError
from evaluation.segmentation.fit import fit_gap_model, run
from extraction.offline.segmentation import GAP_MODEL

HOTELS = ["i need a cheap hotel near the station", "the hotel has two rooms", "does the hotel have a pool", "no pool at that hotel"]
WEATHER = ["will it rain in york tomorrow", "rain is expected in york", "and wind in york", "light wind with the rain"]
MUSIC = ["play some jazz by a trio", "this jazz trio is new", "another jazz song then", "here is one more jazz song"]


def data_file(folder: Path, *, split: str) -> Path:
    """Dialogues of three topics in every order, four utterances on each."""
    orders = [(one, other, third) for one in (HOTELS, WEATHER, MUSIC) for other in (HOTELS, WEATHER, MUSIC) for third in (HOTELS, MUSIC)]
    dialogues = [
        {"dial_id": index, "utterances": [*first, *second, *third], "segments": [4, 4, 4], "set": split}
        for index, (first, second, third) in enumerate(orders)
        if first is not second and second is not third
    ]
    path = folder / "dialogues.json"
    path.write_text(json.dumps(dialogues))
    return path


def arguments(path: Path, *, split: str = "train") -> argparse.Namespace:
    return argparse.Namespace(data=path, split=split, ridge=1.0)


@pytest.mark.parametrize(("set_name", "fitted_on"), [("train", "train"), ("", "all")])
def test_a_fit_separates_plain_topics(set_name: str, fitted_on: str, tmp_path: Path) -> None:
    report = run(arguments(data_file(tmp_path, split=set_name)))

    assert report["fitted_on"] == fitted_on
    assert report["boundaries"] * 11 == report["gaps"] * 2
    assert report["fitted"]["splits"][fitted_on] == {"pk": 0.0, "window_diff": 0.0}
    assert report["fitted"]["weights"].keys() == report["shipped"]["weights"].keys()
    assert report["fitted"]["weights"]["nearest"] < 0


def test_a_split_without_dialogues_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataSetError, match="'dev' needs gaps with and without a boundary; it has 0"):
        run(arguments(data_file(tmp_path, split="train"), split="dev"))


def test_the_fit_recovers_known_coefficients() -> None:
    rng = np.random.default_rng(7)
    weights = np.linspace(-2, 2, len(GAP_MODEL.weights))
    features = rng.normal(size=(20_000, len(weights)))
    labels = (rng.random(20_000) < 1 / (1 + np.exp(1.5 - features @ weights))).astype(np.float64)

    fitted = fit_gap_model(features, labels, ridge=0.01)

    assert fitted.bias == pytest.approx(-1.5, abs=0.1)
    assert list(fitted.weights.values()) == pytest.approx(weights.tolist(), abs=0.15)


def test_separable_data_gives_finite_coefficients() -> None:
    features = np.repeat(np.array([[-1.0], [1.0]]), len(GAP_MODEL.weights), axis=1).repeat(50, axis=0)
    labels = np.array([0.0, 1.0]).repeat(50)

    fitted = fit_gap_model(features, labels)

    assert all(0 < weight < 10 for weight in fitted.weights.values())
