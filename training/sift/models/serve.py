"""``python -m training sift serve``: exports a trained proxy for vLLM and llama.cpp, with the settings that point Varve to it.

Writes ``serve/model`` (weights as safetensors, tokenizer, chat template), which vLLM serves as it is, and ``serve/varve.env``. llama.cpp
needs a GGUF file: its own converter ``convert_hf_to_gguf.py`` makes one. With ``--converter``, the step runs that script.
"""

import argparse
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from training.runs import Run, RunError

SUMMARY: Final = "exports a trained proxy for vLLM and llama.cpp"
NAME: Final = "varve-sift"
"""Name under which the model is served."""
_LEFT_OUT: Final = ("optimizer*", "scheduler*", "rng_state*", "trainer_state.json", "training_args.bin", "*.pth")
_OUT_TYPE: Final = "q8_0"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the step's own arguments."""
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="the model; default: the merged model of the last iteration")
    parser.add_argument("--base-url", default="http://localhost:8000/v1", help="address at which it will be served; default: %(default)s")
    parser.add_argument("--sessions", type=int, default=10, choices=range(1, 16), metavar="K", help="sessions that it was trained to rank")
    parser.add_argument("--direct", action="store_true", help="it was trained to rank without reasoning")
    parser.add_argument("--converter", type=Path, metavar="SCRIPT", help="convert_hf_to_gguf.py of llama.cpp; default: no GGUF file")


def run(arguments: argparse.Namespace) -> Iterator[str]:
    """Exports the model. Yields lines for the terminal.

    Raises:
        RunError: If there is no model, it is a LoRA adapter, or the converter fails.
    """
    folder = Run(arguments.run)
    model = arguments.model or _last_merged(folder.folder)
    if not (model / "config.json").exists():
        what = "a LoRA adapter: merge it first" if (model / "adapter_config.json").exists() else "no model"
        raise RunError(f"{model} is {what}")
    yield "Model calls: 0. Cost: 0."
    target = folder.folder / "serve" / "model"
    part = target.with_name("model.part")
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(model, part, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    shutil.rmtree(target, ignore_errors=True)
    part.replace(target)
    folder.write_text("serve/varve.env", environment(arguments.base_url, sessions=arguments.sessions, reasoning=not arguments.direct))
    yield f"vLLM: vllm serve {target} --served-model-name {NAME} --enable-prefix-caching"
    gguf = target.with_name(f"{NAME}.gguf")
    if arguments.converter is None:
        yield f"llama.cpp: python convert_hf_to_gguf.py {target} --outfile {gguf} --outtype {_OUT_TYPE}"
    else:
        convert(arguments.converter, target, gguf)
    yield f"llama.cpp: llama-server -m {gguf} --alias {NAME} --port 8000"
    yield f"Varve: set the variables of {folder.folder / 'serve' / 'varve.env'}"


def environment(base_url: str, *, sessions: int, reasoning: bool) -> str:
    """The settings of Varve, one variable a line.

    Args:
        base_url: Address of the served model.
        sessions: Number of sessions that it ranks.
        reasoning: Whether it reasons.
    """
    values = {"BASE_URL": base_url, "MODEL": NAME, "SESSIONS": sessions, "REASONING": str(reasoning).lower()}
    return "".join(f"VARVE_SIFT__{name}={value}\n" for name, value in values.items())


def convert(script: Path, model: Path, target: Path) -> None:
    """Runs the converter of llama.cpp.

    Args:
        script: The script.
        model: The folder of the model.
        target: The GGUF file.

    Raises:
        RunError: If it fails.
    """
    command = [sys.executable, str(script), str(model), "--outfile", str(target), "--outtype", _OUT_TYPE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not target.exists():
        raise RunError(f"{script} failed ({done.returncode}): {done.stderr.strip()[-400:] or 'it wrote no file'}")


def _last_merged(run: Path) -> Path:
    found = sorted(run.glob("iteration-*/merged"), key=lambda path: int(path.parent.name.rpartition("-")[2]))
    if not found:
        raise RunError(f"{run} has no merged model: run the step merge, or give --model FOLDER")
    return found[-1]
