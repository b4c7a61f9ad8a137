"""The proxy model that a step asks: local weights (needs torch), or the endpoint of ``VARVE_SIFT__*``."""

import argparse
from importlib.util import find_spec
from typing import Final

from runtime.settings import Settings
from training.runs import Run, RunError
from training.sift.models.endpoints import EndpointModel, RankingModel, proxy_settings

_NEEDED: Final = ("torch", "transformers", "trl", "peft")


def add_proxy_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments that name the proxy model and the form of its answers."""
    parser.add_argument("--model", metavar="FOLDER", help="the proxy model: a folder or a name that transformers loads")
    parser.add_argument("--endpoint", action="store_true", help="ask the endpoint of VARVE_SIFT__* instead of a local model")
    parser.add_argument(
        "--sessions", type=int, default=10, choices=range(1, 16), metavar="K", help="sessions to rank; default: %(default)s"
    )
    parser.add_argument("--direct", action="store_true", help="rank without reasoning, the paper's ablation")
    parser.add_argument("--max-tokens", type=int, default=1024, help="longest answer; default: %(default)s")
    parser.add_argument("--batch", type=int, default=8, help="prompts at once; default: %(default)s")
    parser.add_argument("--seed", type=int, default=7, help="seed of the choice and of drawn answers; default: %(default)s")


def load_proxy(arguments: argparse.Namespace, run: Run) -> RankingModel:
    """The proxy model of the arguments.

    Args:
        arguments: See :func:`add_proxy_arguments`.
        run: The run's folder, for cached answers of an endpoint.

    Raises:
        RunError: If no model is named, or torch is missing.
        EvaluationError: If the endpoint is not configured.
    """
    if arguments.endpoint:
        return EndpointModel(
            proxy_settings(Settings()), replies=run.folder / "proxy-answers.jsonl", purpose="the proxy", max_tokens=arguments.max_tokens
        )
    if arguments.model is None:
        raise RunError("no proxy model: give --model FOLDER, or --endpoint for that of VARVE_SIFT__*")
    require_torch()
    from training.sift.models.local_model import LocalModel

    return LocalModel(arguments.model, batch=arguments.batch, max_tokens=arguments.max_tokens, seed=arguments.seed)


def require_torch() -> None:
    """Checks that the libraries of the extra ``training`` are installed.

    Raises:
        RunError: If one is missing.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise RunError(f"this step needs {', '.join(missing)}: install the extra with .venv/bin/uv pip install -e '.[training]'")
