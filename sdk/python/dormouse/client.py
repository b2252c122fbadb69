"""The client: the calls of each subject, by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, cast

from .claims import Claims, Sessions
from .errors import refusal
from .http import Http
from .parts import Json, Part
from .text import LoneSurrogates
from .threads import Threads
from .transport import Answer, CallOptions, Fence, Request, Transport
from .watch import Event, Watch

@dataclass(frozen=True)
class Value:
    """A value as it was written."""

    data: bytes
    content_type: str
    revision: int
    incarnation: int = 0  # in which revisions count; 0 from a node of an older version


@dataclass(frozen=True)
class Changed:
    """A change of a scope, with its place in the feed."""

    change: Json
    place: str  #: pass it as `after` to continue behind this change, also in another process


class Client:
    """A client of a cluster. Any node serves any call. Many threads may use one client.

    endpoints has the base URLs of nodes; token is a bearer token or a function that returns the
    current one; scope is the keyspace of a tenant; timeout_ms is the time within which a call tries
    again, and attempt_ms that of one attempt, counted from the last part of its answer that came, or
    of a long body that went; http is `HttpxHttp(...)`, or `StandardHttp(context)`
    for a TLS context of your own.
    """

    def __init__(
        self,
        endpoints: str | Iterable[str] | Transport,
        *,
        token: str | Callable[[], str] | None = None,
        scope: str | None = None,
        timeout_ms: int = 30_000,
        attempt_ms: int = 10_000,
        lone_surrogates: LoneSurrogates = "replace",
        http: Http | None = None,
        defaults: CallOptions | None = None,
    ) -> None:
        if isinstance(endpoints, Transport):
            self.transport = endpoints
        else:
            self.transport = Transport(
                endpoints, token=token, scope=scope, timeout_ms=timeout_ms, attempt_ms=attempt_ms, lone_surrogates=lone_surrogates, http=http
            )
        self.defaults: CallOptions = _known(defaults or {})
        self.values = Values(self)
        self.checkpoints = Checkpoints(self)
        self.threads = Threads(self)
        self.agents = Agents(self)
        self.claims = Claims(self)
        self.sessions = Sessions(self)
        self.reviews = Reviews(self)
        self.memory = Memory(self)

    def with_options(self, **defaults: Unpack[CallOptions]) -> Client:
        """Returns a client whose calls have these options unless they say otherwise. An option that is None is as if it were absent."""
        return Client(self.transport, defaults=cast(CallOptions, {**self.defaults, **_known(defaults)}))

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the idle connections. The client opens new ones when it is used again."""
        self.transport.close()

    def fenced(self, fence: Fence) -> Client:
        """Returns a client whose writes apply only under the fence."""
        return self.with_options(fence=fence)

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        data: bytes | str | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer:
        """Makes any call of the API. The path is one of the OpenAPI document, with its parameters in braces."""
        return self.transport.call(self.request(method, path, params, query, headers, body, data, options))

    def request(
        self,
        method: str,
        path: str,
        params: Mapping[str, str] | None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        data: bytes | str | None = None,
        options: CallOptions | None = None,
    ) -> Request:
        """Returns a call with the options of this client."""
        merged = cast(CallOptions, {**self.defaults, **_known(options or {})})
        return Request(method, path, params or {}, query or {}, headers or {}, body, data, merged)

    def commit(self, ops: Sequence[Json], **options: Unpack[CallOptions]) -> Json:
        """Applies several ops, all or none. The `results` have one result for each op, in order."""
        return cast(Json, self.call("POST", "/v1/commits", body={"ops": list(ops)}, **options).body)

    def read(self, reads: Sequence[Json], **options: Unpack[CallOptions]) -> Json:
        """Answers several reads at one index. Each of the `answers` has `found` or `error`."""
        return cast(Json, self.call("POST", "/v1/reads", body={"reads": list(reads)}, **options).body)

    def changes(self, *, prefix: str | None = None, from_index: int | None = None, after: str = "", **options: Unpack[CallOptions]) -> Watch[Changed]:
        """Follows all changes of the scope, each once, across lost connections and killed nodes."""
        def decode(event: Event) -> Changed | None:
            if event.event == "compacted":
                raise refusal("compacted", "the feed no longer has the changes after this place", 410, **json.loads(event.data))
            return Changed(json.loads(event.data), event.id) if event.event == "change" else None

        request = self.request("GET", "/v1/changes", {}, {"prefix": prefix, "from_index": from_index}, options=options)
        return Watch(self.transport, request, decode, after)


def _known(options: CallOptions) -> CallOptions:
    """Returns the options that are not None. One that no call takes, such as a misspelt fence, raises TypeError: without it a write might apply against the caller's will."""
    unknown = sorted(set(options) - set(CallOptions.__annotations__))
    if unknown:
        raise TypeError(f"calls have no option {', '.join(unknown)}")
    return cast(CallOptions, {name: value for name, value in options.items() if value is not None})


class Values(Part):
    """Bytes under keys."""

    def put(
        self,
        key: str,
        value: bytes | str,
        *,
        content_type: str | None = None,
        ttl_ms: int | None = None,
        if_revision: int | None = None,
        if_incarnation: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Json:
        kind = content_type or ("text/plain; charset=utf-8" if isinstance(value, str) else "application/octet-stream")
        query = {"ttl_ms": ttl_ms, "if_revision": if_revision, "if_incarnation": if_incarnation}
        return self._json("PUT", "/v1/values/{key}", params={"key": key}, query=query, data=value, headers={"Content-Type": kind}, **options)

    def get(self, key: str, **options: Unpack[CallOptions]) -> Value:
        answer = self._client.call("GET", "/v1/values/{key}", params={"key": key}, **options)
        revision = int(answer.headers.get("etag", "0").removeprefix("W/").strip('"'))
        return Value(answer.data, answer.headers.get("content-type", ""), revision, int(answer.headers.get("dormouse-incarnation", "0")))

    def delete(self, key: str, *, if_revision: int | None = None, if_incarnation: int | None = None, **options: Unpack[CallOptions]) -> None:
        self._delete("/v1/values/{key}", {"key": key}, {"if_revision": if_revision, "if_incarnation": if_incarnation}, options)

    def list(self, **query: Any) -> Json:
        return self._page("/v1/values", query)


class Checkpoints(Part):
    """The states of agents."""

    def put(self, key: str, body: Json, *, if_revision: int | None = None, if_incarnation: int | None = None, **options: Unpack[CallOptions]) -> Json:
        """Writes a checkpoint. The conditions may be members of the body as well."""
        conditions = {"if_revision": if_revision, "if_incarnation": if_incarnation}
        body = {**body, **{name: value for name, value in conditions.items() if value is not None}}
        return self._json("PUT", "/v1/checkpoints/{key}", params={"key": key}, body=body, **options)

    def patch(self, key: str, patch: Json, *, if_revision: int | None = None, **options: Unpack[CallOptions]) -> Json:
        headers = {"Content-Type": "application/merge-patch+json"}
        return self._json("PATCH", "/v1/checkpoints/{key}", params={"key": key}, query={"if_revision": if_revision}, headers=headers, body=patch, **options)

    def get(self, key: str, *, revision: int | None = None, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/checkpoints/{key}", params={"key": key}, query={"revision": revision}, **options)

    def delete(self, key: str, *, if_revision: int | None = None, **options: Unpack[CallOptions]) -> None:
        self._delete("/v1/checkpoints/{key}", {"key": key}, {"if_revision": if_revision}, options)

    def list(self, **query: Any) -> Json:
        return self._page("/v1/checkpoints", query)

    def history(self, key: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/checkpoints/{key}/history", params={"key": key}, **options)


class Agents(Part):
    """A checkpoint and its thread together."""

    def hibernate(self, key: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/agents/{key}/hibernate", params={"key": key}, body=body, **options)

    def thaw(self, key: str, *, tail: int | None = None, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/agents/{key}/thaw", params={"key": key}, query={"tail": tail}, **options)

    def erase(self, key: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("DELETE", "/v1/agents/{key}", params={"key": key}, **options)


class Reviews(Part):
    """What waits for a person's decision."""

    def get(self, review: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/reviews/{review}", params={"review": review}, **options)

    def list(self, **query: Any) -> Json:
        return self._page("/v1/reviews", query)

    def decide(self, review: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/reviews/{review}/decide", params={"review": review}, body=body, **options)


class Memory(Part):
    """What agents remember."""

    def put(self, agent: str, id: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("PUT", "/v1/memory/{agent}/{id}", params={"agent": agent, "id": id}, body=body, **options)

    def write(self, agent: str, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/memory/{agent}", params={"agent": agent}, body=body, **options)

    def get(self, agent: str, id: str, **options: Unpack[CallOptions]) -> Json:
        return self._json("GET", "/v1/memory/{agent}/{id}", params={"agent": agent, "id": id}, **options)

    def delete(self, agent: str, id: str, **options: Unpack[CallOptions]) -> None:
        self._delete("/v1/memory/{agent}/{id}", {"agent": agent, "id": id}, {}, options)

    def recall(self, body: Json, **options: Unpack[CallOptions]) -> Json:
        return self._json("POST", "/v1/memory/recall", body=body, **options)
