"""How checkpoints and writes are entries of a thread."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: The most bytes of a serialised checkpoint, and of the writes of one call of put_writes.
ENTRY_BYTES_MAX = 3 << 20

CONTENT_TYPE = "application/vnd.dormouse.langgraph-python"

#: The kind of the entries that name the namespaces of a thread.
NAMESPACE_KIND = "namespace"

Json = dict[str, Any]


@dataclass(frozen=True)
class Space:
    """A namespace of checkpoints. Its kinds have its hash, since a namespace may be long."""

    ns: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.ns.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    @property
    def checkpoints(self) -> str:
        return f"checkpoint:{self.hash}"

    @property
    def replaced(self) -> str:
        """The kind of checkpoints that were put again under their id."""
        return f"replaced:{self.hash}"

    def writes(self, checkpoint_id: str) -> str:
        return f"writes:{self.hash}:{hashlib.sha256(checkpoint_id.encode()).hexdigest()[:32]}"

    def checkpoint(self, checkpoint_id: str) -> str:
        """The entry id of a checkpoint."""
        return f"checkpoint:{self.hash}:{checkpoint_id}"

    def register(self) -> Json:
        return {"id": f"namespace:{self.hash}", "kind": NAMESPACE_KIND, "payload": {"ns": self.ns}}


def pack(kind: str, payload: Json, parts: Sequence[tuple[Json, tuple[str, bytes]]]) -> Json:
    """Returns an entry that holds serialised values. Each part has members of its own beside its type."""
    data = b"".join(value for _, (_, value) in parts)
    if len(data) > ENTRY_BYTES_MAX:
        raise ValueError(f"the entry {kind} has {len(data)} bytes: a checkpoint, or the writes of one task, may have at most {ENTRY_BYTES_MAX}")
    described = [{**own, "type": type_, "size": len(value)} for own, (type_, value) in parts]
    return {"kind": kind, "payload": {**payload, "parts": described}, "content_type": CONTENT_TYPE, "bytes": base64.b64encode(data).decode()}


def unpack(entry: Json) -> list[tuple[Json, tuple[str, bytes]]]:
    """Returns the parts of an entry."""
    data = base64.b64decode(entry.get("bytes", ""))
    at, parts = 0, []
    for part in entry["payload"]["parts"]:
        parts.append((part, (part["type"], data[at : at + part["size"]])))
        at += part["size"]
    return parts
