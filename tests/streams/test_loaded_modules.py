"""A worker loads what its stage needs before it starts, and nothing that only another stage or another setting needs."""

import json
import subprocess
import sys
from typing import Final

import pytest

from streams.stages.catalog import STAGES

_SCRIPT: Final = """
import importlib, json, os, sys
import streams.run

for stage in sys.argv[1:]:
    # Each worker is a fork: the modules that all of them import take most of a second.
    if os.fork() == 0:
        importlib.import_module(f"streams.stages.{stage}.build")
        forms = sys.modules.get("extraction.offline.events.type_forms")
        compiled = 0 if forms is None else forms._compiled.cache_info().currsize
        print(json.dumps([sorted(sys.modules), compiled]), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""
_OF_SETTINGS: Final = {"openai", "ctranslate2", "tokenizers", "fastembed", "qdrant_client", "qdrant_edge", "phonenumbers", "fastapi"}
"""Loaded when the settings ask for a model, a store or redaction, or never."""
_NEEDED: Final = {
    "extraction.offline.extractor": {"extraction"},
    "retrieval": {"extraction", "merging"},
    "stores": {"extraction", "merging", "index"},
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, tuple[set[str], int]]:
    """The modules of each stage's worker, and how many forms of event types it has compiled."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT, *STAGES], capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {stage: (set(modules), compiled) for stage, (modules, compiled) in zip(STAGES, found, strict=True)}


def test_libraries_wait_for_a_setting_that_needs_them(loaded: dict[str, tuple[set[str], int]]) -> None:
    assert {stage: modules & _OF_SETTINGS for stage, (modules, _) in loaded.items()} == {stage: set() for stage in STAGES}


def test_packages_are_loaded_by_stages_that_need_them(loaded: dict[str, tuple[set[str], int]]) -> None:
    assert {name: {stage for stage, (modules, _) in loaded.items() if name in modules} for name in _NEEDED} == _NEEDED


def test_forms_of_event_types_are_compiled_for_a_schema(loaded: dict[str, tuple[set[str], int]]) -> None:
    assert {compiled for _, compiled in loaded.values()} == {0}
