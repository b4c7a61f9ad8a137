"""The tenants' schema files, as processes read them: an edit that is refused leaves the last good reading in force."""

import hashlib
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory.errors import SchemaError
from memory.schema.model import MemorySchema
from runtime.logs import logger
from runtime.tenants_file import schema_named

_log = logger(__name__)

FileVersion = tuple[int, int, int]
"""Modification time, size and inode: what tells one writing of a file from the next."""


def file_version(path: Path) -> FileVersion | None:
    """The version of a file that lies there now; None where none does."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the newest look at a schema file gave."""

    version: FileVersion | None
    schema: MemorySchema | None
    """The last good one; None where there was none yet."""
    error: SchemaError | None = None
    """Why the version is refused."""


class SchemaFiles:
    """Schemas by the names that tenants give them, read again when their files change.

    Args:
        folder: What the paths of schema files are relative to.
        version_of: Tells a file's version; it may remember it for a moment.
        copies: A folder for a copy of each last good schema file, for a process that starts while the file is broken. None: none is kept.
    """

    def __init__(self, *, folder: Path, version_of: Callable[[Path], FileVersion | None], copies: Path | None = None) -> None:
        self._folder = folder
        self._version_of = version_of
        self._copies = copies
        self._paths: dict[str, Path] = {}
        self._readings: dict[str, _Reading] = {}

    @property
    def refused(self) -> Mapping[str, str]:
        """Why the newest version of a schema is refused, by the schema's name."""
        return {name: str(reading.error) for name, reading in self._readings.items() if reading.error is not None}

    def get(self, name: str) -> MemorySchema:
        """The last good schema of that name.

        Raises:
            SchemaError: If no good one was ever read on this machine; says what is wrong with the one that lies there.
        """
        path = self._paths.get(name)
        if path is None:
            path = self._paths[name] = self._folder / name
        version = self._version_of(path)
        reading = self._readings.get(name)
        if reading is None or reading.version != version:
            reading = self._readings[name] = self._read(name, path, version, before=reading)
        if reading.schema is not None:
            return reading.schema
        assert reading.error is not None
        raise SchemaError(reading.error.path, reading.error.problem)

    def _read(self, name: str, path: Path, version: FileVersion | None, *, before: _Reading | None) -> _Reading:
        try:
            schema = schema_named(name, path)
        except SchemaError as error:
            last_good = self._copy_of(name, path) if before is None else before.schema
            _log.error("schema_refused", schema=name, last_good_in_force=last_good is not None, error=str(error))
            return _Reading(version, last_good, error)
        if version is not None:
            self._keep_copy(name, path, version)
        return _Reading(version, schema)

    def _copy_of(self, name: str, path: Path) -> MemorySchema | None:
        try:
            return None if self._copies is None else schema_named(name, self._copy_path(self._copies, name, path))
        except SchemaError:
            return None

    def _keep_copy(self, name: str, path: Path, version: FileVersion) -> None:
        """Keeps what was just read, unless the file has changed meanwhile: the next look will keep that."""
        if self._copies is None:
            return
        copy = self._copy_path(self._copies, name, path)
        draft = copy.with_name(f".{copy.name}.{secrets.token_hex(4)}")
        try:
            content = path.read_bytes()
            if file_version(path) != version or (copy.is_file() and copy.read_bytes() == content):
                return
            copy.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(content)
            os.replace(draft, copy)
        except OSError as error:
            draft.unlink(missing_ok=True)
            _log.warning("schema_copy_not_kept", schema=name, error=str(error))

    @staticmethod
    def _copy_path(copies: Path, name: str, path: Path) -> Path:
        # The file keeps its own name: a schema without one is named after it.
        return copies / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16] / path.name
