"""Messages in the exports of ChatGPT and Claude. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

_SPOKEN: Final = {"user": "user", "assistant": "assistant"}
_THOUGHTS: Final = frozenset({"thoughts", "reasoning_recap", "code", "execution_output", "model_editable_context", "user_editable_context"})
"""ChatGPT's contents that are no messages: the model's reasoning, its code for tools, and settings."""


def is_chatgpt_export(value: Any) -> bool:
    """Whether a value is a conversation of a ChatGPT export."""
    return isinstance(value, Mapping) and isinstance(value.get("mapping"), Mapping)


def is_claude_export(value: Any) -> bool:
    """Whether a value is a conversation of a Claude export."""
    return isinstance(value, Mapping) and isinstance(value.get("chat_messages"), list)


def chatgpt_messages(conversation: Mapping[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """The messages of the current branch, oldest first. Branches that were regenerated or edited away are left out.

    Args:
        conversation: One conversation of the export.
        number: Its number in the export, from 1.
    """
    name = _name_of(conversation, ("conversation_id", "id"), number)
    time = conversation.get("create_time")
    for node in _current_branch(conversation):
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue
        time = message.get("create_time") or time
        author, content = message.get("author"), message.get("content")
        role = _SPOKEN.get(str(author.get("role"))) if isinstance(author, Mapping) else None
        metadata = message.get("metadata")
        is_hidden = isinstance(metadata, Mapping) and bool(metadata.get("is_visually_hidden_from_conversation"))
        if role is None or is_hidden or (message.get("recipient") or "all") != "all" or not isinstance(content, Mapping):
            continue
        text = "" if content.get("content_type") in _THOUGHTS else "\n".join(filter(None, map(_part, _parts(content))))
        yield _message(f"chatgpt-{name}", message.get("id"), role, "ChatGPT", text, time)


def claude_messages(conversation: Mapping[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """The messages of a conversation, oldest first.

    Args:
        conversation: One conversation of the export.
        number: Its number in the export, from 1.
    """
    name = _name_of(conversation, ("uuid", "id"), number)
    for message in filter(lambda each: isinstance(each, Mapping), conversation["chat_messages"]):
        role = "user" if message.get("sender") == "human" else "assistant"
        content = message.get("content")
        blocks = [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
        said = [str(each.get("text") or "") for each in blocks if each.get("type") == "text"] or [str(message.get("text") or "")]
        files = [*_named_files(message.get("attachments")), *_named_files(message.get("files"))]
        text = "\n".join(filter(None, (*said, *files)))
        yield _message(f"claude-{name}", message.get("uuid"), role, "Claude", text, message.get("created_at"))


def _current_branch(conversation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one, or else to the last leaf. In damaged exports parents may form a circle."""
    mapping = conversation["mapping"]
    at = conversation.get("current_node")
    if not isinstance(at, str) or at not in mapping:
        leaves = [name for name, node in mapping.items() if isinstance(node, Mapping) and not node.get("children")]
        at = leaves[-1] if leaves else None
    branch: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at not in seen and isinstance(mapping.get(at), Mapping):
        seen.add(at)
        branch.append(mapping[at])
        at = mapping[at].get("parent")
    return branch[::-1]


def _parts(content: Mapping[str, Any]) -> Sequence[Any]:
    parts = content.get("parts")
    return parts if isinstance(parts, list) else [content.get("text")]


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    kind = str(part.get("content_type") or "")
    if kind == "audio_transcription" or isinstance(part.get("text"), str):
        return str(part.get("text") or "")
    return next((f"[{name}]" for name in ("image", "audio", "video") if name in kind), "[file]")


def _named_files(files: Any) -> Iterator[str]:
    for file in files if isinstance(files, list) else ():
        name = file.get("file_name") if isinstance(file, Mapping) else None
        yield f"[file {name}]" if name else "[file]"


def _name_of(conversation: Mapping[str, Any], fields: Sequence[str], number: int) -> str:
    return str(next((conversation[each] for each in fields if conversation.get(each)), number))


def _message(session: str, identity: Any, role: str, assistant: str, text: str, time: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"session": session, "role": role, "text": text}
    if identity:
        fields["id"] = str(identity)
    if role == "assistant":
        fields["speaker"] = assistant
    if time is not None:
        fields["event_time"] = time
    return fields
