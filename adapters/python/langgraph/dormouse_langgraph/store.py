"""A long-term store: a `BaseStore`."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import random
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from dormouse import Client, RefusedError

from .items import fits, matches, texts_at

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

#: The most reads of one call.
READS_MAX = 100

#: The most puts of one batch.
PUTS_MAX = 500

#: The most ops of one commit: an item is one, and so is each of its indexed texts, before and after.
OPS_MAX = 1024

#: The most bytes of a commit in JSON, which a node takes up to 12,233,384.
COMMIT_BYTES_MAX = 12_000_000

#: The most texts of one item that are indexed.
ITEM_TEXTS_MAX = 100

#: The most bytes of an indexed text together with its embedding and the tags of its namespace.
TEXT_BYTES_MAX = 256 << 10

#: How often a put is tried again if others change the same items.
TRIES_MAX = 20

#: The most bytes of a query for words.
QUERY_BYTES_MAX = 8 << 10

_GONE = frozenset({"not_found", "deleted"})

#: The codes of a refused commit after which its items are read again.
_CHANGED = frozenset({"revision_mismatch", "conflict", "deleted", "not_found"})


class _Vector(NamedTuple):
    """An embedding, in as few digits as keep its 32-bit floats, and its bytes in JSON."""

    values: list[float]
    bytes: int


def _vector(embedding: Iterable[float]) -> _Vector:
    values = [float(f"{each:.9g}") for each in array("f", embedding)]
    return _Vector(values, _json_bytes(values))


def _json_bytes(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


class DormouseStore(BaseStore):
    """A store. An item is a value; its indexed texts are memories, which change with it in one commit.

    `index` is a mapping: `fields` has the paths of the texts that a query searches (`["$"]`, the whole
    value, if absent), of which the best one counts, and `embed` is a function of texts that returns vectors, or an object with
    `embed_documents`, and `embed_query` if queries differ. Without `embed` a query searches for words.
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

    def _memory(self, key: str, at: int = 0) -> str:
        """Returns the id of the memory of a text of an item. That of the first one is the hash alone, also the tag of a namespace."""
        digest = hashlib.sha256(key.encode()).hexdigest()
        return f"{digest}.{at}" if at else digest

    def _read(self, reads: Sequence[Json]) -> Iterator[Any]:
        for at in range(0, len(reads), READS_MAX):
            for answer in self._answers(reads[at : at + READS_MAX]):
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
        texts = {key: self._texts(op) for key, op in puts.items()}
        unique = list(dict.fromkeys(text for each in texts.values() for text in each))
        embeds = unique and (self._index or {}).get("embed")
        vectors = dict(zip(unique, map(_vector, self._embed(unique)), strict=True)) if embeds else {}
        vectors = {text: vector for text, vector in vectors.items() if any(vector.values)}  # zeros have no direction, and are refused
        for key, op in puts.items():
            for text in texts[key]:
                # The memory of a text has a kind, metadata, data and tags too.
                tags = 64 * (len(op.namespace) + 1)
                _check(op, text, len("item{}") + _json_bytes({"key": key}) + tags + 4 * len(vectors[text].values if text in vectors else ()))
        for tries in range(1, TRIES_MAX + 1):
            keys = list(puts) if self._index is not None else []
            before = dict(zip(keys, self._read([{"read": "get_value", "key": key} for key in keys]), strict=True))
            ops = [each for key, op in puts.items() for each in self._ops(key, op, before.get(key), texts[key], vectors)]
            if len(ops) > OPS_MAX:
                raise ValueError(f"a batch changes {len(ops)} items and indexed texts: at most {OPS_MAX} are changed together")
            size = sum(_json_bytes({**each, "embedding": None}) for each in ops) + sum(vectors[text].bytes for each in texts.values() for text in each if text in vectors)
            if size > COMMIT_BYTES_MAX:
                raise ValueError(f"a batch has {size} bytes with its indexed texts and their embeddings, in JSON: at most {COMMIT_BYTES_MAX} are stored together")
            try:
                if ops:
                    self._client.commit(ops)
                return
            except RefusedError as refused:
                # Another process changed one of the items meanwhile.
                if tries == TRIES_MAX or refused.code not in _CHANGED:
                    raise
            time.sleep(random.random() * 0.01 * tries)

    def _ops(self, key: str, op: Any, before: Json | None, texts: Sequence[str], vectors: Mapping[str, _Vector]) -> Iterator[Json]:
        # Without an index, what was before does not matter.
        same: Json = {}
        if self._index is not None:
            same = {"if_incarnation": before["incarnation"], "if_revision": before["revision"]} if before else {"if_revision": 0}
        if op.value is not None:
            encoded = json.dumps(op.value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
            indexed = {} if self._index is None else {"metadata": {"texts": len(texts)}}
            yield {"op": "put_value", "key": key, "bytes": base64.b64encode(encoded).decode(), "content_type": "application/json", **indexed, **same}
        elif before is not None or self._index is None:
            yield {"op": "delete_value", "key": key, **same}
        for at, text in enumerate(texts):
            namespaces = [self._key(op.namespace[:end], "") for end in range(len(op.namespace) + 1)]
            memory = {"content": text, "kind": "item", "class": "semantic", "data": {"key": key}, "tags": [self._memory(each) for each in namespaces]}
            vector = {"embedding": vectors[text].values} if text in vectors else {}
            yield {"op": "write_memory", "agent_id": self._agent, "id": self._memory(key, at), **memory, **vector}
        # Earlier versions stored one text of an item, and no number of texts.
        indexed_before = (before.get("metadata") or {}).get("texts", 1) if before else 0
        for at in range(len(texts), indexed_before):
            yield {"op": "delete_memory", "agent_id": self._agent, "id": self._memory(key, at)}

    def _texts(self, op: Any) -> list[str]:
        """Returns the texts that a query may find of an item."""
        if self._index is None or op.value is None or op.index is False:
            return []
        texts = [text for path in op.index or self._index.get("fields") or ["$"] for text in texts_at(op.value, path)]
        if len(texts) > ITEM_TEXTS_MAX:
            raise ValueError(f"the item {op.key!r} has {len(texts)} texts to index: at most {ITEM_TEXTS_MAX} are allowed")
        for text in texts:
            _check(op, text)
        return texts

    def _embed(self, texts: list[str]) -> list[list[float]]:
        embed = (self._index or {})["embed"]
        vectors: list[list[float]] = embed.embed_documents(texts) if hasattr(embed, "embed_documents") else embed(texts)
        return vectors

    def _embed_query(self, query: str) -> list[float]:
        embed = (self._index or {})["embed"]
        vector: list[float] = embed.embed_query(query) if hasattr(embed, "embed_query") else self._embed([query])[0]
        return vector

    def _search(self, op: Any) -> list[Any]:
        query = (op.query or "").strip()
        if query and self._index is not None:
            return self._recall(op, query)
        matching, end = list[Any](), op.offset + op.limit
        for keys in self._pages(self._prefix(op.namespace_prefix)):
            matching += [item for item in self._items(keys, search=True).values() if matches(item.value, op.filter)]
            if len(matching) >= end:
                break
        return matching[op.offset : end]

    def _recall(self, op: Any, query: str) -> list[Any]:
        how: Json = {"mode": "text", "query": _clipped(query)}
        if (self._index or {}).get("embed"):
            how = {"mode": "vector", "embedding": _vector(self._embed_query(query)).values}
            if not any(how["embedding"]):
                return []
        tag = self._memory(self._key(op.namespace_prefix, ""))
        [found] = self._read([{"read": "recall", "agent_id": self._agent, "kinds": ["item"], "tags_all": [tag], "limit": RECALL_MAX, **how}])
        scores: dict[str, float] = {}
        for each in (found or {"items": []})["items"]:  # the best first
            scores.setdefault(each["data"]["key"], each["score"])
        keys, matching, end = list(scores), list[Any](), op.offset + op.limit
        part = READS_MAX if op.filter else min(READS_MAX, max(1, end))
        for at in range(0, len(keys), part):
            if len(matching) >= end:
                break
            items = self._items(keys[at : at + part], scores, search=True)
            matching += [item for item in items.values() if matches(item.value, op.filter)]
        return matching[op.offset : end]

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
                if all(fits(namespace, condition.match_type, condition.path) for condition in op.match_conditions or ()):
                    found.add(namespace if op.max_depth is None else namespace[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]


def _check(op: Any, text: str, others: int = 0) -> None:
    """Raises an error if a text, with other bytes of its memory, is too large to be indexed."""
    size = len(text.encode("utf-8", "replace"))
    if size + others > TEXT_BYTES_MAX:
        limit = f"with its embedding, its key and its namespace at most {TEXT_BYTES_MAX} are allowed"
        raise ValueError(f"the item {op.key!r} has a text of {size} bytes to index: {limit}: name smaller fields in index, or put it with index=False")


def _clipped(query: str) -> str:
    """Returns the beginning of a query, in whole characters, that Dormouse takes."""
    return query.encode("utf-8", "replace")[:QUERY_BYTES_MAX].decode("utf-8", "ignore")
