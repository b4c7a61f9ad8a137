"""MkDocs hooks, loaded by mkdocs.yml: folders in the navigation, and links that lead out of ``docs/``."""

import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)]*|[a-z]+/)\)")


def on_config(config: Any) -> Any:
    """Replaces a folder in the navigation with all its pages."""
    docs = Path(config["docs_dir"])
    config["nav"] = _with_folders(config["nav"], docs)
    return config


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Replaces links that lead out of the site, or to a folder, with their text."""
    folder = Path(page.file.src_uri).parent

    def plain(link: re.Match[str]) -> str:
        leads_out = link[2].count("../") > len(folder.parts)
        return link[1] if leads_out or link[2].endswith("/") else link[0]

    return _LINK.sub(plain, markdown)


def _with_folders(nav: Any, docs: Path) -> Any:
    if isinstance(nav, list):
        return [_with_folders(each, docs) for each in nav]
    if isinstance(nav, dict):
        return {title: _with_folders(each, docs) for title, each in nav.items()}
    if str(nav).endswith("/"):
        return [str(path.relative_to(docs)) for path in sorted((docs / nav).glob("*.md"))]
    return nav
