"""A long-term store: a `BaseStore`."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote, unquote

from dormouse import Client, RefusedError

try:
    from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, PutOp, SearchItem, SearchOp
except ImportError as error:  # the module can be imported all the same
    _missing: ImportError | None = error
    BaseStore = object
else:
    _missing = None

Json = dict[str, Any]

#: The most memories that one search with a query looks at.
RECALL_MAX = 1000

#: The most puts of one batch: each is at most two ops of a commit, which has at most 1,024.
PUTS_MAX = 500

#: The most bytes of the texts of one item that are indexed.
TEXT_BYTES_MAX = 256 << 10

#: The most bytes of a query for words.
QUERY_BYTES_MAX = 8 << 10

_GONE = frozenset({"not_found", "deleted"})
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda a, b: bool(a == b),
    "$ne": lambda a, b: bool(a != b),
    "$gt": lambda a, b: a is not None and bool(a > b),
    "$gte": lambda a, b: a is not None and bool(a >= b),
    "$lt": lambda a, b: a is not None and bool(a < b),
    "$lte": lambda a, b: a is not None and bool(a <= b),
}


class DormouseStore(BaseStore):
    """A store. An item is a value; its indexed text is a memory, which changes with it in one commit.

    `index` is a mapping: `fields` has the names of the members that a query searches (`["$"]`, the
    whole value, if absent), and `embed` is a function of texts that returns vectors, or an object with
    `embed_documents`. Without `embed` a query searches for words.
    """

    def __init__(self, client: Client, *, prefix: str = "langgraph-python/", index: Mapping[str, Any] | None = None) -> None:
        if _missing is not None:
            raise ImportError("DormouseStore needs LangGraph: install langgraph") from _missing
        self._client, self._index = client, index
        self._base = prefix + "items/"
        self._agent = prefix + "items"

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Answers the reads of a batch, then applies its puts in one commit."""
        ops = list(ops)
        puts: dict[str, Any] = {}
        results: list[Any] = [None] * len(ops)
        gets = {at: self._key(op.namespace, op.key) for at, op in enumerate(ops) if isinstance(op, GetOp)}
        items = self._items(list(dict.fromkeys(gets.values())))
        for at, op in enumerate(ops):
            if isinstance(op, GetOp):
                results[at] = items.get(gets[at])
            elif isinstance(op, SearchOp):
                results[at] = self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[at] = self._namespaces(op)
            elif isinstance(op, PutOp):
                puts[self._key(op.namespace, op.key)] = op
            else:
                raise ValueError(f"there is no operation {type(op).__name__}")
        self._put(puts)
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        return await asyncio.to_thread(self.batch, ops)

    def _key(self, namespace: Sequence[str], key: str) -> str:
        return self._base + "".join(quote(label, safe="") + "/" for label in namespace) + ":" + quote(key, safe="")

    def _split(self, key: str) -> tuple[tuple[str, ...], str]:
        *labels, name = key.removeprefix(self._base).split("/")
        return tuple(unquote(label) for label in labels), unquote(name[1:])

    def _memory(self, key: str) -> str:
        return hashlib.sha256(key.encode()).hexdigest()

    def _read(self, reads: Sequence[Json]) -> Iterator[Any]:
        for at in range(0, len(reads), 100):
            for answer in self._answers(reads[at : at + 100]):
                if "error" in answer and answer["error"]["code"] not in _GONE:
                    raise RefusedError(answer["error"])
                yield answer.get("found")

    def _answers(self, reads: Sequence[Json]) -> Sequence[Json]:
        """Answers reads, in several calls if their answers are too large for one."""
        try:
            answers: Sequence[Json] = self._client.read(reads)["answers"]
            return answers
        except RefusedError as refused:
            if refused.code != "too_large" or len(reads) == 1:
                raise
        half = len(reads) // 2
        return [*self._answers(reads[:half]), *self._answers(reads[half:])]

    def _items(self, keys: Sequence[str], scores: Mapping[str, float] | None = None, *, search: bool = False) -> dict[str, Any]:
        found = {}
        for key, row in zip(keys, self._read([{"read": "get_value", "key": key} for key in keys]), strict=True):
            if row is not None:
                namespace, name = self._split(key)
                at = {member: datetime.fromtimestamp(row[member] / 1000, timezone.utc) for member in ("created_at", "updated_at")}
                value = json.loads(base64.b64decode(row["bytes"]))
                if search:
                    found[key] = SearchItem(namespace=namespace, key=name, value=value, score=(scores or {}).get(key), **at)
                else:
                    found[key] = Item(namespace=namespace, key=name, value=value, **at)
        return found

    def _put(self, puts: Mapping[str, Any]) -> None:
        if len(puts) > PUTS_MAX:
            raise ValueError(f"a batch has {len(puts)} puts: at most {PUTS_MAX} are applied together")
        texts = {key: text for key, op in puts.items() if (text := self._text(op))}
        vectors = dict(zip(texts, self._embed(list(texts.values())), strict=True)) if texts and (self._index or {}).get("embed") else {}
        ops: list[Json] = []
        for key, op in puts.items():
            if op.value is None:
                ops.append({"op": "delete_value", "key": key})
            else:
                encoded = json.dumps(op.value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
                ops.append({"op": "put_value", "key": key, "bytes": base64.b64encode(encoded).decode(), "content_type": "application/json"})
            if key in texts:
                namespaces = [self._key(op.namespace[:end], "") for end in range(len(op.namespace) + 1)]
                memory = {"content": texts[key], "kind": "item", "class": "semantic", "data": {"key": key}, "tags": [self._memory(each) for each in namespaces]}
                ops.append({"op": "write_memory", "agent_id": self._agent, "id": self._memory(key), **memory, **({"embedding": vectors[key]} if key in vectors else {})})
            elif self._index is not None:
                ops.append({"op": "delete_memory", "agent_id": self._agent, "id": self._memory(key)})
        if ops:
            self._client.commit(ops)

    def _text(self, op: Any) -> str:
        """Returns what a query may find of an item."""
        if self._index is None or op.value is None or op.index is False:
            return ""
        pieces = [piece for path in op.index or self._index.get("fields") or ["$"] for piece in _texts(op.value, path)]
        text = "\n".join(pieces)
        if len(text.encode("utf-8", "replace")) > TEXT_BYTES_MAX:
            raise ValueError(f"the item {op.key!r} has more than {TEXT_BYTES_MAX} bytes of text to index: name fewer fields")
        return text

    def _embed(self, texts: list[str]) -> list[list[float]]:
        embed = (self._index or {})["embed"]
        vectors: list[list[float]] = embed.embed_documents(texts) if hasattr(embed, "embed_documents") else embed(texts)
        return vectors

    def _search(self, op: Any) -> list[Any]:
        query = (op.query or "").strip()
        if query and self._index is not None:
            return self._recall(op, query)
        matching, end = list[Any](), op.offset + op.limit
        for keys in self._pages(self._prefix(op.namespace_prefix)):
            matching += [item for item in self._items(keys, search=True).values() if _matches(item.value, op.filter)]
            if len(matching) >= end:
                break
        return matching[op.offset : end]

    def _recall(self, op: Any, query: str) -> list[Any]:
        how = {"mode": "vector", "embedding": self._embed([query])[0]} if (self._index or {}).get("embed") else {"mode": "text", "query": _clipped(query)}
        tag = self._memory(self._key(op.namespace_prefix, ""))
        [found] = self._read([{"read": "recall", "agent_id": self._agent, "kinds": ["item"], "tags_all": [tag], "limit": RECALL_MAX, **how}])
        scores = {each["data"]["key"]: each["score"] for each in (found or {"items": []})["items"]}
        items = [item for item in self._items(list(scores), scores, search=True).values() if _matches(item.value, op.filter)]
        return items[op.offset : op.offset + op.limit]

    def _prefix(self, namespace: Sequence[str]) -> str:
        return self._base + "".join(quote(label, safe="") + "/" for label in namespace)

    def _pages(self, prefix: str) -> Iterator[list[str]]:
        after: str | None = None
        while True:
            page = self._client.values.list(prefix=prefix, after=after, limit=100)
            yield [row["key"] for row in page["items"]]
            after = page["next"]
            if after is None:
                return

    def _namespaces(self, op: Any) -> list[tuple[str, ...]]:
        found = set()
        for keys in self._pages(self._base):
            for key in keys:
                namespace, _ = self._split(key)
                if all(_fits(namespace, condition.match_type, condition.path) for condition in op.match_conditions or ()):
                    found.add(namespace if op.max_depth is None else namespace[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]


def _clipped(query: str) -> str:
    """Returns the beginning of a query, in whole characters, that Dormouse takes."""
    return query.encode("utf-8", "replace")[:QUERY_BYTES_MAX].decode("utf-8", "ignore")


def _matches(value: Json, wanted: Mapping[str, Any] | None) -> bool:
    for name, want in (wanted or {}).items():
        got = value.get(name)
        if isinstance(want, dict) and any(operator.startswith("$") for operator in want):
            for operator, operand in want.items():
                if operator not in _COMPARE:
                    raise ValueError(f"there is no operator {operator}: use one of {', '.join(_COMPARE)}")
                if not _COMPARE[operator](got, operand):
                    return False
        elif got != want:
            return False
    return True


def _fits(namespace: Sequence[str], match_type: str, path: Sequence[str]) -> bool:
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(want in ("*", label) for label, want in zip(part, path, strict=True))


def _texts(value: Any, path: str) -> Iterator[str]:
    """Yields the texts at a path such as title, chapters[*].content, authors[0] or $, the whole value."""
    if path == "$":
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
        return
    found = [value]
    for step in path.replace("[", ".[").split("."):
        if step.startswith("["):
            index = step[1:-1]
            lists = [each for each in found if isinstance(each, list)]
            found = [item for each in lists for item in (each if index == "*" else each[int(index) :][:1])]
        elif step:
            found = [each[step] for each in found if isinstance(each, dict) and step in each]
    for each in found:
        if each is not None and each != "":
            yield each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
