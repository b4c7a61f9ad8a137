"""Steps without torch: the choice of checkpoints, the export, and clear errors where torch is missing."""

import argparse
from pathlib import Path
from typing import Any

import pytest

from training.runs import RunError
from training.sift.learning.merge import best_checkpoints
from training.sift.models import proxies, serve


def model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in ("config.json", "model.safetensors", "tokenizer.json", "optimizer.pt"):
        (folder / name).write_text(name)
    return folder


def exported(run: Path, **changed: Any) -> list[str]:
    given = {"model": None, "base_url": "http://localhost:8000/v1", "sessions": 10, "direct": False, "converter": None}
    return list(serve.run(argparse.Namespace(run=run, **{**given, **changed})))


def test_the_last_merged_model_is_exported(tmp_path: Path) -> None:
    for number in (2, 10):
        (model(tmp_path / f"iteration-{number}" / "merged") / "config.json").write_text(str(number))
    lines = exported(tmp_path, sessions=5, direct=True)
    target = tmp_path / "serve" / "model"
    assert (target / "config.json").read_text() == "10"
    assert not (target / "optimizer.pt").exists()
    assert any(line.startswith(f"vLLM: vllm serve {target}") for line in lines)
    assert (tmp_path / "serve" / "varve.env").read_text().splitlines() == [
        "VARVE_SIFT__BASE_URL=http://localhost:8000/v1",
        "VARVE_SIFT__MODEL=varve-sift",
        "VARVE_SIFT__SESSIONS=5",
        "VARVE_SIFT__REASONING=false",
    ]


def test_a_converter_makes_the_gguf_file(tmp_path: Path) -> None:
    script = tmp_path / "convert.py"
    script.write_text("import sys; open(sys.argv[sys.argv.index('--outfile') + 1], 'w').write(sys.argv[1])")
    exported(tmp_path, model=model(tmp_path / "m"), converter=script)
    assert (tmp_path / "serve" / "varve-sift.gguf").read_text() == str(tmp_path / "serve" / "model")
    script.write_text("import sys; sys.exit('no such architecture')")
    (tmp_path / "serve" / "varve-sift.gguf").unlink()
    with pytest.raises(RunError, match="no such architecture"):
        exported(tmp_path, model=tmp_path / "m", converter=script)


def test_an_export_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no merged model"):
        exported(tmp_path)
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    with pytest.raises(RunError, match="LoRA adapter"):
        exported(tmp_path, model=adapter)


def test_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxies, "find_spec", lambda name: None)
    with pytest.raises(RunError, match=r"needs torch.*\[training\]"):
        proxies.require_torch()


def test_the_best_checkpoints_are_chosen() -> None:
    scores = {"checkpoint-10": 0.5, "checkpoint-20": 0.7, "checkpoint-30": 0.5, "checkpoint-9": 0.1}
    assert best_checkpoints(scores, 3) == ["checkpoint-20", "checkpoint-30", "checkpoint-10"]
