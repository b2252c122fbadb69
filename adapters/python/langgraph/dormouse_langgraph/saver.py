"""A checkpointer: a `BaseCheckpointSaver`."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from dormouse import Client, RefusedError

from .entries import NAMESPACE_KIND, Json, Space, pack, unpack

try:
    from langgraph.checkpoint.base import WRITES_IDX_MAP, BaseCheckpointSaver, CheckpointTuple
except ImportError as error:  # the module can be imported all the same
    _missing: ImportError | None = error
    BaseCheckpointSaver = object
else:
    _missing = None

#: Checkpoints whose incarnation a saver remembers.
KNOWN_MAX = 10_000

#: The most checkpoints that `list` reads at a time.
PAGE_MAX = 50

_GONE = frozenset({"not_found", "deleted"})


class DormouseSaver(BaseCheckpointSaver):
    """A checkpointer. Each LangGraph thread is a thread of Dormouse: a log of checkpoints and writes."""

    def __init__(self, client: Client, *, prefix: str = "langgraph-python/", serde: Any = None) -> None:
        if _missing is not None:
            raise ImportError("DormouseSaver needs LangGraph: install langgraph") from _missing
        super().__init__(serde=serde)
        self._client, self._prefix = client, prefix
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, str, str], int] = OrderedDict()  # incarnations of checkpoints; guarded by _lock

    def get_tuple(self, config: Mapping[str, Any]) -> Any:
        """Returns the checkpoint of the config, or the newest one; None if there is none."""
        thread, space, checkpoint_id = self._place(config)
        found = self._find(thread, space, checkpoint_id)
        return None if found is None else self._tuple(thread, space, *found)

    def list(
        self, config: Mapping[str, Any] | None, *, filter: dict[str, Any] | None = None, before: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> Iterator[Any]:
        """Yields the checkpoints of a thread, or of all threads, the newest of each first."""
        configurable = (config or {}).get("configurable", {})
        only, ns = configurable.get("checkpoint_id"), configurable.get("checkpoint_ns")
        until = (before or {}).get("configurable", {}).get("checkpoint_id")
        left = float("inf") if limit is None else limit
        if left <= 0:
            return
        for thread in [self._prefix + str(configurable["thread_id"])] if "thread_id" in configurable else self._threads():
            for space in self._spaces(thread) if ns is None else [Space(ns)]:
                # A filter may pass over many checkpoints.
                for found in self._only(thread, space, only, until) if only else self._newest_first(thread, space, until, PAGE_MAX if filter else min(left, PAGE_MAX)):
                    each = self._tuple(thread, space, *found, filter=filter)
                    if each is None:
                        continue
                    left -= 1
                    yield each
                    if left <= 0:
                        return

    def put(self, config: Mapping[str, Any], checkpoint: Mapping[str, Any], metadata: Mapping[str, Any], new_versions: Mapping[str, Any]) -> Json:
        """Stores a checkpoint whose parent is the checkpoint of the config."""
        thread, space, parent = self._place(config)
        checkpoint_id = checkpoint["id"]
        parts = [({"name": "checkpoint"}, self.serde.dumps_typed(dict(checkpoint))), ({"name": "metadata"}, self.serde.dumps_typed(_metadata(config, metadata)))]
        payload = {"id": checkpoint_id, **({"parent": parent} if parent else {})}
        entry = {"id": space.checkpoint(checkpoint_id), **pack(space.checkpoints, payload, parts)}
        # The first checkpoint of a subgraph has no parent: it belongs to the checkpoints of the graphs above it.
        above = (metadata.get("parents") or {}).items()
        incarnation = self._incarnation(thread, [(space, parent), *((Space(ns), each) for ns, each in above)])
        if incarnation is not None:
            # It can be in no other incarnation: if it is refused, so are its writes and the checkpoints after it.
            self._knows(thread, space, checkpoint_id, incarnation)
        stamp = self._append(thread, [space.register(), entry], incarnation)
        if stamp["entries"][1].get("skipped"):
            del entry["id"]
            self._append(thread, [{**entry, "kind": space.replaced}], stamp["incarnation"])
        self._knows(thread, space, checkpoint_id, stamp["incarnation"])
        return _config(thread.removeprefix(self._prefix), space.ns, checkpoint_id)

    def put_writes(self, config: Mapping[str, Any], writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        """Stores the writes of a task, which belong to the checkpoint of the config."""
        thread, space, checkpoint_id = self._place(config)
        if checkpoint_id is None:
            raise ValueError("configurable.checkpoint_id is absent: writes belong to a checkpoint")
        parts = [({"channel": channel, "idx": WRITES_IDX_MAP.get(channel, at)}, self.serde.dumps_typed(value)) for at, (channel, value) in enumerate(writes)]
        entry = pack(space.writes(checkpoint_id), {"task": task_id, "path": task_path}, parts)
        self._append(thread, [space.register(), entry], self._incarnation(thread, [(space, checkpoint_id)]))

    def delete_thread(self, thread_id: str) -> None:
        """Deletes all of a thread. From then on this saver refuses the writes of runs that it began before."""
        try:
            self._client.threads.delete(self._prefix + thread_id)
        except RefusedError as refused:
            if refused.code not in _GONE:
                raise

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Creates a thread that shares the checkpoints of another, in one commit."""
        self._client.threads.fork(self._prefix + source_thread_id, {"id": self._prefix + target_thread_id})

    async def aget_tuple(self, config: Mapping[str, Any]) -> Any:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self, config: Mapping[str, Any] | None, *, filter: dict[str, Any] | None = None, before: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> AsyncIterator[Any]:
        found, end = self.list(config, filter=filter, before=before, limit=limit), object()
        while (each := await asyncio.to_thread(next, found, end)) is not end:
            yield each

    async def aput(self, config: Mapping[str, Any], checkpoint: Mapping[str, Any], metadata: Mapping[str, Any], new_versions: Mapping[str, Any]) -> Json:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(self, config: Mapping[str, Any], writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = "") -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    def _place(self, config: Mapping[str, Any]) -> tuple[str, Space, str | None]:
        configurable = config["configurable"]
        return self._prefix + str(configurable["thread_id"]), Space(configurable.get("checkpoint_ns") or ""), configurable.get("checkpoint_id") or None

    def _append(self, thread: str, entries: Sequence[Json], incarnation: int | None) -> Json:
        body = {"entries": list(entries), "on_exists": "skip", **({"if_incarnation": incarnation} if incarnation is not None else {})}
        stamp: Json = self._client.call("POST", "/v1/threads/{id}/entries", params={"id": thread}, body=body).body
        return stamp

    def _read(self, reads: Sequence[Json]) -> Any:
        """Answers reads at one index; None is what does not exist."""
        found = []
        for answer in self._client.read(reads)["answers"]:
            if "error" in answer and answer["error"]["code"] not in _GONE:
                raise RefusedError(answer["error"])
            found.append(answer.get("found"))
        return found

    def _knows(self, thread: str, space: Space, checkpoint_id: str, incarnation: int) -> None:
        with self._lock:
            self._known[thread, space.hash, checkpoint_id] = incarnation
            self._known.move_to_end((thread, space.hash, checkpoint_id))
            if len(self._known) > KNOWN_MAX:
                self._known.popitem(last=False)

    def _incarnation(self, thread: str, checkpoints: Sequence[tuple[Space, str | None]]) -> int | None:
        """The incarnation of the thread that holds the first of the checkpoints that this saver knows; None if it knows none."""
        with self._lock:
            found = (self._known.get((thread, space.hash, each)) for space, each in checkpoints if each is not None)
            return next((incarnation for incarnation in found if incarnation is not None), None)

    def _tuple(self, thread: str, space: Space, incarnation: int, entry: Json, *, filter: dict[str, Any] | None = None) -> Any:
        values = {part["name"]: self.serde.loads_typed(value) for part, value in unpack(entry)}
        if filter and any(values["metadata"].get(name) != value for name, value in filter.items()):
            return None
        checkpoint_id, parent = entry["payload"]["id"], entry["payload"].get("parent")
        self._knows(thread, space, checkpoint_id, incarnation)
        thread_id = thread.removeprefix(self._prefix)
        return CheckpointTuple(
            config=_config(thread_id, space.ns, checkpoint_id),
            checkpoint=values["checkpoint"],
            metadata=values["metadata"],
            parent_config=_config(thread_id, space.ns, parent) if parent else None,
            pending_writes=self._writes(thread, space, checkpoint_id),
        )

    def _writes(self, thread: str, space: Space, checkpoint_id: str) -> Sequence[tuple[str, str, Any]]:
        found: dict[tuple[str, int], tuple[str, str, Any]] = {}
        for entry in self._entries(thread, space.writes(checkpoint_id)):
            task = entry["payload"]["task"]
            for part, value in unpack(entry):
                # A task that runs again has the writes of its first run, except for errors and interrupts.
                if part["idx"] < 0 or (task, part["idx"]) not in found:
                    found[task, part["idx"]] = (task, part["channel"], self.serde.loads_typed(value))
        return [*found.values()]

    def _entries(self, thread: str, kind: str, start: int | None = 0) -> Iterator[Json]:
        while start is not None:
            [page] = self._read([{"read": "load_entries", "thread": thread, "kinds": [kind], "from": start}])
            yield from (page or {"items": []})["items"]
            start = page["next"] if page else None

    def _find(self, thread: str, space: Space, checkpoint_id: str | None) -> tuple[int, Json] | None:
        """Returns a checkpoint, or the newest one, and the incarnation of its thread."""
        named = [] if checkpoint_id is None else [{"read": "get_entry", "thread": thread, "entry": space.checkpoint(checkpoint_id)}]
        found = self._read(
            [
                {"read": "get_thread", "thread": thread},
                {"read": "load_entries", "thread": thread, "kinds": [space.replaced]},
                *(named or [{"read": "load_entries", "thread": thread, "kinds": [space.checkpoints], "tail": 1}]),
            ]
        )
        items = [found[2]] if named else (found[2] or {"items": []})["items"]
        if found[0] is None or not items or items[-1] is None:
            return None
        entry = items[-1]
        # A checkpoint that was put again is where its newest entry is.
        first = found[1] or {"items": [], "next": None}
        replaced = [*first["items"], *self._entries(thread, space.replaced, first["next"])]
        again = [each for each in replaced if each["payload"]["id"] == entry["payload"]["id"]]
        return found[0]["incarnation"], again[-1] if again else entry

    def _only(self, thread: str, space: Space, checkpoint_id: str, until: str | None) -> Iterator[tuple[int, Json]]:
        found = self._find(thread, space, checkpoint_id)
        if found is not None and not (until and checkpoint_id >= until):
            yield found

    def _newest_first(self, thread: str, space: Space, until: str | None, limit: float) -> Iterator[tuple[int, Json]]:
        """Yields the checkpoints, the last that was stored first, from the one before a checkpoint on, if that exists."""
        [end] = self._read([{"read": "get_entry", "thread": thread, "entry": space.checkpoint(until)}]) if until else [None]
        again = {entry["payload"]["id"]: entry for entry in self._entries(thread, space.replaced)}
        if until and end is None:
            limit = PAGE_MAX  # as with a filter
        incarnation, start = None, None if end is None else end["seq"] - 1
        while start is None or start >= 0:
            place = {} if start is None else {"to": start}
            [found, page] = self._read(
                [
                    {"read": "get_thread", "thread": thread},
                    {"read": "load_entries", "thread": thread, "kinds": [space.checkpoints], "order": "desc", "limit": limit, **place},
                ]
            )
            if found is None or page is None or incarnation not in (None, found["incarnation"]):
                return
            incarnation = found["incarnation"]
            for entry in page["items"]:
                checkpoint_id = entry["payload"]["id"]
                if until is None or end is not None or checkpoint_id < until:
                    yield found["incarnation"], again.get(checkpoint_id, entry)
            if page["next"] is None:
                return
            start = page["next"]

    def _spaces(self, thread: str) -> Iterator[Space]:
        for entry in self._entries(thread, NAMESPACE_KIND):
            yield Space(entry["payload"]["ns"])

    def _threads(self) -> Iterator[str]:
        after = None
        while True:
            page = self._client.threads.list(prefix=self._prefix, after=after)
            yield from (row["id"] for row in page["items"])
            after = page["next"]
            if after is None:
                return


def _config(thread_id: str, ns: str, checkpoint_id: str) -> Json:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


def _metadata(config: Mapping[str, Any], metadata: Mapping[str, Any]) -> Any:
    """Returns the metadata with what LangGraph takes from the config, in versions that do so."""
    try:
        from langgraph.checkpoint.base import get_checkpoint_metadata
    except ImportError:
        return dict(metadata)
    return get_checkpoint_metadata(config, metadata)
