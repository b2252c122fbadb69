"""Small modules of the same shape as those of LangGraph, whose package is not installed here."""

from __future__ import annotations

import pickle
import sys
import types
from typing import Any, NamedTuple


class Serde:
    def dumps_typed(self, value: Any) -> tuple[str, bytes]:
        return "pickle", pickle.dumps(value)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        assert data[0] == "pickle"
        return pickle.loads(data[1])


class BaseCheckpointSaver:
    def __init__(self, *, serde: Any = None) -> None:
        self.serde = serde or Serde()

    def get_next_version(self, current: int | None, channel: Any) -> int:
        return (current or 0) + 1


class CheckpointTuple(NamedTuple):
    config: dict[str, Any]
    checkpoint: dict[str, Any]
    metadata: dict[str, Any]
    parent_config: dict[str, Any] | None = None
    pending_writes: list[tuple[str, str, Any]] | None = None


class Item:
    def __init__(self, *, value, key, namespace, created_at, updated_at) -> None:
        self.value, self.key, self.namespace, self.created_at, self.updated_at = value, key, namespace, created_at, updated_at


class SearchItem(Item):
    def __init__(self, namespace, key, value, created_at, updated_at, score=None) -> None:
        super().__init__(value=value, key=key, namespace=namespace, created_at=created_at, updated_at=updated_at)
        self.score = score


class GetOp(NamedTuple):
    namespace: tuple[str, ...]
    key: str
    refresh_ttl: bool = True


class SearchOp(NamedTuple):
    namespace_prefix: tuple[str, ...]
    filter: dict[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    query: str | None = None
    refresh_ttl: bool = True


class MatchCondition(NamedTuple):
    match_type: str
    path: tuple[str, ...]


class ListNamespacesOp(NamedTuple):
    match_conditions: tuple[MatchCondition, ...] | None = None
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


class PutOp(NamedTuple):
    namespace: tuple[str, ...]
    key: str
    value: dict[str, Any] | None
    index: Any = None
    ttl: float | None = None


class BaseStore:
    """What the methods of the framework's own class do with batch."""

    def get(self, namespace, key):
        return self.batch([GetOp(namespace, key)])[0]

    def put(self, namespace, key, value, index=None):
        self.batch([PutOp(namespace, key, value, index)])

    def delete(self, namespace, key):
        self.batch([PutOp(namespace, key, None)])

    def search(self, namespace_prefix, /, **how):
        return self.batch([SearchOp(namespace_prefix, **how)])[0]

    def list_namespaces(self, **how):
        return self.batch([ListNamespacesOp(**how)])[0]

    async def aget(self, namespace, key):
        return (await self.abatch([GetOp(namespace, key)]))[0]


def install() -> None:
    """Makes the modules importable under the framework's names."""
    checkpoint, store = types.ModuleType("langgraph.checkpoint.base"), types.ModuleType("langgraph.store.base")
    checkpoint.__dict__.update(WRITES_IDX_MAP={"__error__": -1, "__interrupt__": -3}, BaseCheckpointSaver=BaseCheckpointSaver, CheckpointTuple=CheckpointTuple)
    store.__dict__.update({each.__name__: each for each in (BaseStore, GetOp, Item, ListNamespacesOp, MatchCondition, PutOp, SearchItem, SearchOp)})
    for name in ("langgraph", "langgraph.checkpoint", "langgraph.store"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["langgraph.checkpoint.base"], sys.modules["langgraph.store.base"] = checkpoint, store
