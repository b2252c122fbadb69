"""Claims, and the turns of sessions."""

from __future__ import annotations

import json
import threading
import time
from typing import Any, Unpack, cast

from .errors import RefusedError, refusal
from .hold import Hold, limits
from .parts import Json, Part
from .transport import CallOptions, Fence
from .watch import Event, Watch

_TTL_MS = 30_000


class Claims(Part):
    """Names that one holder has at a time."""

    def take(self, name: str, holder: str, ttl_ms: int | None = None, **options: Unpack[CallOptions]) -> Json:
        return self._post("/v1/claims/{name}", name, {"holder": holder, "ttl_ms": ttl_ms}, options)

    def renew(self, name: str, holder: str, epoch: int, ttl_ms: int | None = None, **options: Unpack[CallOptions]) -> Json:
        return self._post("/v1/claims/{name}/renew", name, {"holder": holder, "epoch": epoch, "ttl_ms": ttl_ms}, options)

    def release(self, name: str, holder: str, epoch: int, **options: Unpack[CallOptions]) -> Json:
        return self._post("/v1/claims/{name}/release", name, {"holder": holder, "epoch": epoch}, options)

    def get(self, name: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/claims/{name}", params={"name": name}, **options)

    def watch(self, name: str, **options: Unpack[CallOptions]) -> Watch[Json]:
        """Passes on the holders of a claim, beginning with the current one. A renewal brings no event."""
        before: int | None = None

        def decode(event: Event) -> Json | None:
            nonlocal before
            if event.event != "claim":
                return None
            claim = cast("Json", json.loads(event.data))
            epoch = claim.get("epoch", 0) if claim.get("holder") else 0
            # A stream begins with the current holder, also after a lost connection.
            if epoch == before:
                return None
            before = epoch
            return claim

        return Watch(self._client.transport, self._client.request("GET", "/v1/claims/{name}/watch", {"name": name}, options=options), decode)

    def hold(self, name: str, holder: str, *, ttl_ms: int = _TTL_MS, wait: bool = False, **options: Unpack[CallOptions]) -> Hold:
        """Takes a claim and renews it until the hold is stopped or released. With wait, it waits for the holder before."""
        first = options.copy()
        options.pop("idempotency_key", None)  # a node gives the answer to the first attempt again under its key
        while True:
            since = time.monotonic()
            try:
                epoch = self.take(name, holder, ttl_ms, **first)["epoch"]
                break
            except RefusedError as refused:
                cancelled = options.get("cancelled")
                if not wait or refused.code != "already_claimed" or (cancelled is not None and cancelled.is_set()):
                    raise
            first = options
            with self.watch(name, **options) as holders:
                for claim in holders:
                    if not claim.get("holder"):
                        break

        def renew(stopped: threading.Event) -> object:
            return self.renew(name, holder, epoch, ttl_ms, **cast(CallOptions, {**options, **limits(ttl_ms), "cancelled": stopped}))

        return Hold(self._client.transport, Fence(name, epoch), ttl_ms, renew, since, lambda: self.release(name, holder, epoch, **options))

    def _post(self, path: str, name: str, body: dict[str, Any], options: CallOptions) -> Json:
        return self._json("POST", path, params={"name": name}, body={k: v for k, v in body.items() if v is not None}, **options)


class Sessions(Part):
    """Conversations whose turns run under a lease."""

    def create(self, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/sessions", body=body, **options)

    def put(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("PUT", "/v1/sessions/{id}", params={"id": id}, body=body, **options)

    def get(self, id: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/sessions/{id}", params={"id": id}, **options)

    def list(self, **query: Any) -> Json:
        return self._page("/v1/sessions", query)

    def claim(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._turned(id, "claim", body, options)

    def resume(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._turned(id, "claim_resume", body, options)

    def recover(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._turned(id, "recover", body, options)

    def checkpoint(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._turned(id, "checkpoint", body, options)

    def commit(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._turned(id, "commit", body, options)

    def renew(self, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._turned(id, "renew", body, options)

    def cancel(self, id: str, body: Json | None = None, **options: Unpack[CallOptions]) -> Json:
        return self._turned(id, "cancel", body or {}, options)

    def delete(self, id: str, *, if_revision: int | None = None, **options: Unpack[CallOptions]) -> None:
        self._delete("/v1/sessions/{id}", {"id": id}, {"if_revision": if_revision}, options)

    def keep(self, id: str, turned: Json, ttl_ms: int | None = None) -> Hold:
        """Renews the lease of a turn, at once and until the hold is stopped.

        If the ttl is absent, it is that of the claim: give it for a turn that was renewed before.
        """
        lease = turned.get("lease")
        if not lease:
            raise refusal("invalid", f"the turn of session {id} has no lease: it is queued")
        ttl = _ttl_of(lease) if ttl_ms is None else ttl_ms
        body = {"lease_id": lease["lease_id"], "owner_id": lease["owner_id"], "ttl_ms": ttl}

        def renew(stopped: threading.Event) -> object:
            return self.renew(id, body, **cast(CallOptions, {**limits(ttl), "cancelled": stopped}))

        # How old the lease is, only the cluster knows: it is held since its renewal was sent.
        since = time.monotonic()
        renew(threading.Event())
        return Hold(self._client.transport, Fence(f"session:{id}", lease["epoch"]), ttl, renew, since)

    def _turned(self, id: str, verb: str, body: Json, options: CallOptions) -> Json:
        return self._json("POST", f"/v1/sessions/{{id}}/{verb}", params={"id": id}, body=body, **options)


def _ttl_of(lease: Json) -> int:
    """Returns the ttl in ms with which a lease was claimed, or 30,000 if it does not say."""
    since, until = lease.get("acquired_at", 0), lease.get("expires_at", 0)
    return int(until - since) if until > since else _TTL_MS
