"""A session of OpenAI Agents on Dormouse."""

from __future__ import annotations

import asyncio
import copy
import threading
from typing import Any

from dormouse import Client, RefusedError


# The most entries of one commit.
_ENTRIES_MAX = 1024

_GONE = frozenset({"not_found", "deleted"})
_CHANGED = frozenset({"conflict", "not_found", "deleted"})


class DormouseSession:
    """A session whose items are the entries of a thread. It has the methods of the protocol `Session`.

    Each entry is a change: it drops the last items, then adds others. The object keeps what it has
    read, and then reads only what is new. Many processes may use one session: each item is popped
    once. Its calls run in threads, so the event loop goes on.
    """

    session_settings: Any = None

    def __init__(self, session_id: str, client: Client, *, prefix: str = "openai-agents/", session_settings: Any = None) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client, self._thread = client, prefix + session_id
        self._lock = threading.Lock()
        self._incarnation, self._rev = 0, 0  # what was read so far; guarded by _lock
        self._items: list[Any] = []  # guarded by _lock

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Returns the items, or the last ones, oldest first."""
        if limit is None:
            limit = getattr(self.session_settings, "limit", None)
        return await asyncio.to_thread(self._last, limit)

    async def add_items(self, items: list[Any]) -> None:
        """Adds items at the end, all or none."""
        if items:
            each = -(-len(items) // _ENTRIES_MAX)  # items of an entry: one, unless there are too many
            entries = [{"kind": "items", "payload": {"items": items[at : at + each]}} for at in range(0, len(items), each)]
            await asyncio.to_thread(self._client.threads.append, self._thread, entries)

    async def pop_item(self) -> Any | None:
        """Removes and returns the last item; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Removes all items."""
        await asyncio.to_thread(self._clear)

    def _last(self, limit: int | None) -> list[Any]:
        """Returns copies of the last items: the caller may change them."""
        with self._lock:
            self._refresh()
            items = self._items if limit is None else self._items[max(0, len(self._items) - limit) :] if limit > 0 else []
            return copy.deepcopy(items)

    def _pop(self) -> Any | None:
        with self._lock:
            while True:
                self._refresh()
                if not self._items:
                    return None
                body = {"entries": [{"kind": "drop", "payload": {"drop": 1}}], "expected_rev": self._rev, "if_incarnation": self._incarnation}
                try:
                    self._client.call("POST", "/v1/threads/{id}/entries", params={"id": self._thread}, body=body)
                except RefusedError as refused:
                    if refused.code not in _CHANGED:
                        raise
                    continue  # another process changed the session meanwhile
                # The entry at this rev is the one that was just written.
                self._rev += 1
                return self._items.pop()

    def _clear(self) -> None:
        try:
            self._client.threads.delete(self._thread)
        except RefusedError as refused:
            if refused.code not in _GONE:
                raise

    def _refresh(self) -> None:
        """Reads what is new. The lock is held."""
        more = True
        while more:
            thread, page = self._client.read([{"read": "get_thread", "thread": self._thread}, {"read": "load_entries", "thread": self._thread, "from": self._rev}])["answers"]
            if "error" in thread:
                if thread["error"]["code"] not in _GONE:
                    raise RefusedError(thread["error"])
                self._incarnation, self._rev, self._items = 0, 0, []
                return
            incarnation, floor = thread["found"]["incarnation"], thread["found"]["floor"]
            if incarnation != self._incarnation or self._rev < floor:
                # The thread is another one, or entries that were not read are compacted.
                read_from = self._rev
                self._incarnation, self._rev, self._items = incarnation, floor, []
                if read_from != floor:
                    continue
            if "error" in page:
                raise RefusedError(page["error"])
            for entry in page["found"]["items"]:
                payload = entry["payload"]
                del self._items[max(0, len(self._items) - payload.get("drop", 0)) :]
                self._items += payload.get("items", [])
                self._rev = entry["seq"] + 1
            more = page["found"]["next"] is not None
