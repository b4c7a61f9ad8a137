"""The built files of the console, compressed and kept in memory: a request names an entry of a table, never a path on the disk."""

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response

FOLDER: Final = Path(__file__).parent / "static"
"""The files that ``npm run build`` writes in the folder ``console/`` of the source."""

_PAGE: Final = "index.html"
_HASHED: Final = "assets/"
"""Folder of the files whose names contain a hash of their content."""
_A_YEAR: Final = "public, max-age=31536000, immutable"
_CHECKED: Final = "no-cache"
"""The browser keeps the file, and asks for each use whether it has changed."""

_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
_OTHER_TYPE: Final = "application/octet-stream"
_COMPRESSED: Final = frozenset({".ico", ".png", ".woff2"})
"""Formats that gzip does not make smaller."""

_MISSING: Final = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Varve console</title></head>
<body>
<h1>The console's files are missing</h1>
<p>This installation of Varve was made without the built files of the console. Install a released package or image, or run
<code>npm ci</code> and <code>npm run build</code> in the folder <code>console/</code> of the source, and start the service again.</p>
<p>The HTTP API works without them.</p>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    packed: bytes | None
    """The content, compressed. None: that saves nothing."""
    media_type: str
    caching: str
    tag: str


class ConsoleFiles:
    """The files, read once.

    Args:
        folder: The folder of the built files. It may be missing or empty.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._files = dict(_read(folder))

    @property
    def are_built(self) -> bool:
        """Whether this installation contains the files."""
        return _PAGE in self._files

    def response(self, path: str, headers: Headers) -> Response:
        """The response to a request of a file.

        A path without a file is one of the page's own addresses: it gets the page, which shows the address. Only a missing hashed file gets
        404: a browser with an old page must not read the new page as a script.

        Args:
            path: The path below ``/console/``.
            headers: The headers of the request.
        """
        if not self.are_built:
            return Response(_MISSING, status_code=404, media_type=_TYPES[".html"], headers={"Cache-Control": "no-store"})
        file = self._files.get(path)
        if file is None:
            if path.startswith(_HASHED):
                return Response("there is no such file\n", status_code=404, media_type="text/plain", headers={"Cache-Control": "no-store"})
            file = self._files[_PAGE]
        packed = file.packed if "gzip" in headers.get("accept-encoding", "") else None
        tag = f'"{file.tag}"' if packed is None else f'"{file.tag}-gzip"'
        answered = {"Cache-Control": file.caching, "ETag": tag, "Vary": "Accept-Encoding"}
        if tag in headers.get("if-none-match", ""):
            return Response(status_code=304, headers=answered)
        if packed is not None:
            answered["Content-Encoding"] = "gzip"
        # As a header: Starlette would add a second charset to a text type.
        answered["Content-Type"] = file.media_type
        return Response(file.content if packed is None else packed, headers=answered)


def _read(folder: Path) -> Iterator[tuple[str, _File]]:
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if not path.is_file() or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        name = PurePosixPath(path.relative_to(folder)).as_posix()
        content = path.read_bytes()
        packed = None if path.suffix in _COMPRESSED else gzip.compress(content, mtime=0)
        yield (
            name,
            _File(
                content=content,
                packed=packed if packed is not None and len(packed) < len(content) else None,
                media_type=_TYPES.get(path.suffix, _OTHER_TYPE),
                caching=_A_YEAR if name.startswith(_HASHED) else _CHECKED,
                tag=hashlib.sha256(content).hexdigest()[:32],
            ),
        )
