"""Threads: journals of entries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Unpack, cast

from .errors import refusal
from .parts import Json, Part
from .transport import CallOptions
from .watch import Event, Watch


class Threads(Part):
    """Journals of entries."""

    def create(self, body: Json | None = None, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/threads", body=body or {}, **options)

    def append(
        self, id: str, entries: Sequence[Json], *, expected_rev: int | None = None, expected_head: str | None = None, metadata: Json | None = None, **options: Unpack[CallOptions]
    ) -> Json:
        body = {"entries": list(entries), "expected_rev": expected_rev, "expected_head": expected_head, "metadata": metadata}
        return self._json("POST", "/v1/threads/{id}/entries", params={"id": id}, body=_present(body), **options)

    def append_bytes(
        self, id: str, data: bytes, *, content_type: str = "application/octet-stream", entry: str | None = None, kind: str | None = None,
        expected_rev: int | None = None, **options: Unpack[CallOptions],
    ) -> Json:
        """Appends one entry that has bytes, up to 4 MiB, as they are."""
        query = {"entry": entry, "entry_kind": kind, "expected_rev": expected_rev}
        return self._json("POST", "/v1/threads/{id}/bytes", params={"id": id}, query=query, headers={"Content-Type": content_type}, data=data, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/threads/{id}", params={"id": id}, **options)

    def entries(
        self, id: str, *, from_seq: int | None = None, to: int | None = None, tail: int | None = None, kind: Sequence[str] | None = None,
        at_rev: int | None = None, limit: int | None = None, order: str | None = None, **options: Unpack[CallOptions],
    ) -> Json:
        query = {"from": from_seq, "to": to, "tail": tail, "kind": kind, "at_rev": at_rev, "limit": limit, "order": order}
        return self._json("GET", "/v1/threads/{id}/entries", params={"id": id}, query=query, **options)

    def entry(self, id: str, entry: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/threads/{id}/entries/{entry}", params={"id": id, "entry": entry}, **options)

    def entry_bytes(self, id: str, entry: str, **options: Unpack[CallOptions]) -> bytes:
        return self._client.call("GET", "/v1/threads/{id}/entries/{entry}/bytes", params={"id": id, "entry": entry}, **options).data

    def fork(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/threads/{id}/fork", params={"id": id}, body=body, **options)

    def compact(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/threads/{id}/compact", params={"id": id}, body=body, **options)

    def delete(self, id: str, *, seal_ms: int | None = None, **options: Unpack[CallOptions]) -> None:
        self._delete("/v1/threads/{id}", {"id": id}, {"seal_ms": seal_ms}, options)

    def list(self, **query: Any) -> Json:
        return self._page("/v1/threads", query)

    def watch(self, id: str, *, from_seq: int = 0, incarnation: int | None = None, **options: Unpack[CallOptions]) -> Watch[Json]:
        """Passes on the entries of a thread from a seq on, each once. It raises a refusal when the thread is deleted or compacted.

        incarnation is that of the thread, to continue in another process; absent, it is the current one.
        """
        # The incarnation tells a thread of the same id that was created later.
        if incarnation is None:
            incarnation = self.get(id, **cast(CallOptions, {**options, "stale": False}))["incarnation"]
        expected = from_seq

        def decode(event: Event) -> Json | None:
            nonlocal expected
            found: Json = json.loads(event.data)
            if event.event in ("compacted", "deleted"):
                floor = {"floor": found["floor"]} if "floor" in found else {}
                raise refusal(event.event, f"the thread {id} is {event.event}", 410, **floor)
            if event.event != "entry" or found["seq"] < expected:
                return None
            expected = found["seq"] + 1
            return found

        query = {"from": from_seq, "incarnation": incarnation}
        return Watch(self._client.transport, self._client.request("GET", "/v1/threads/{id}/watch", {"id": id}, query, options=options), decode)


def _present(members: Json) -> Json:
    return {name: value for name, value in members.items() if value is not None}
