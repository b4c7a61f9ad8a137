"""Dialogues with known segments, from the files that such data sets come in."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from evaluation.errors import DataSetError
from evaluation.segmentation.metrics import lengths_of
from extraction.offline.segmentation import Utterance
from models.embedding.build import build_embedder
from runtime.settings import Settings

_SEPARATOR: Final = re.compile(r"\s*={3,}\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Utterances, and how long each of their segments is."""

    name: str
    utterances: tuple[str, ...]
    lengths: tuple[int, ...]
    split: str
    """The data set's own word (``train``, ``dev``, ``test``); empty where it has none."""


def read_dialogues(path: Path) -> list[Dialogue]:
    """Reads a data set.

    Accepted are TIAGE's form, a JSON list of ``{utterances, segments: lengths}``; SuperDialseg's, ``{dial_data: {name: [{turns:
    [{utterance, segmentation_label}]}]}}``; and DialSeg711's own, a folder of text files, or one text file with blank lines between
    dialogues, an utterance a line and a line of ``=`` between segments.

    Raises:
        DataSetError: If nothing can be read, or a dialogue's lengths do not sum up; says which.
    """
    if path.is_dir():
        dialogues = [each for file in sorted(path.glob("**/*.txt")) for each in _text_dialogues(file)]
    elif path.suffix == ".json":
        dialogues = list(_json_dialogues(path))
    else:
        dialogues = list(_text_dialogues(path))
    if not dialogues:
        raise DataSetError(f"{path} holds no dialogue: expected JSON, text, or a folder of .txt files")
    for dialogue in dialogues:
        if sum(dialogue.lengths) != len(dialogue.utterances) or min(dialogue.lengths, default=0) < 1:
            raise DataSetError(f"{path}: the segments of dialogue {dialogue.name} do not cover its {len(dialogue.utterances)} utterances")
    return dialogues


async def embed_dialogues(dialogues: Sequence[Dialogue], settings: Settings) -> list[list[Utterance]]:
    """The utterances of each dialogue with their vectors."""
    embedder = build_embedder(settings.embedding, cache=settings.cache_path)
    try:
        embedded = []
        for dialogue in dialogues:
            embeddings = await embedder.embed_documents(list(dialogue.utterances))
            embedded.append([Utterance(text, embedding) for text, embedding in zip(dialogue.utterances, embeddings, strict=True)])
        return embedded
    finally:
        await embedder.close()


def _text_dialogues(path: Path) -> Iterator[Dialogue]:
    for number, block in enumerate(re.split(r"\n\s*\n", path.read_text(encoding="utf-8"))):
        segments: list[list[str]] = [[]]
        for line in block.splitlines():
            if _SEPARATOR.fullmatch(line):
                segments.append([])
            elif line.strip():
                segments[-1].append(line.strip())
        filled = [segment for segment in segments if segment]
        if filled:
            yield Dialogue(
                name=f"{path.stem}/{number}",
                utterances=tuple(utterance for segment in filled for utterance in segment),
                lengths=tuple(len(segment) for segment in filled),
                split="",
            )


def _json_dialogues(path: Path) -> Iterator[Dialogue]:
    try:
        content = orjson.loads(path.read_bytes())
        if isinstance(content, dict):
            content = [{**each, "set": each.get("set", "")} for named in content["dial_data"].values() for each in named]
        for number, each in enumerate(content):
            yield _from_turns(each, number) if "turns" in each else _from_lengths(each, number)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise DataSetError(f"{path} is in none of the known forms: {error!r}") from error


def _from_lengths(fields: dict[str, Any], number: int) -> Dialogue:
    return Dialogue(
        name=str(fields.get("dial_id", number)),
        utterances=tuple(str(utterance) for utterance in fields["utterances"]),
        lengths=tuple(int(length) for length in fields["segments"]),
        split=str(fields.get("set", "")),
    )


def _from_turns(fields: dict[str, Any], number: int) -> Dialogue:
    """A turn whose ``segmentation_label`` is 1 ends a segment."""
    turns = fields["turns"]
    ends = [index + 1 for index, turn in enumerate(turns[:-1]) if int(turn["segmentation_label"]) == 1]
    return Dialogue(
        name=str(fields.get("dial_id", number)),
        utterances=tuple(str(turn["utterance"]) for turn in turns),
        lengths=tuple(lengths_of(ends, len(turns))),
        split=str(fields["set"]),
    )
