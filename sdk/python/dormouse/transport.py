"""Sends calls to the nodes: fails over, and retries what is safe to retry."""

from __future__ import annotations

import json
import math
import random
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypedDict
from urllib.parse import quote, urlencode, urlsplit

from .errors import RefusedError, UnknownError, refusal
from .http import Http, NotSentError, Response, StandardHttp, Stream
from .keys import takes_key
from .operations import READS, WITHOUT_MIN_INDEX, WITHOUT_STALE
from .problems import TRANSIENT, UNDECIDED, inconclusive, problem_of
from .text import LoneSurrogates, encode, well_formed
from .wait import pause, sleep

# What a header may have.
_HEADER = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@dataclass(frozen=True)
class Fence:
    """A fence: a write applies only while the claim is at this epoch."""

    claim: str
    epoch: int


class CallOptions(TypedDict, total=False):
    """What any call takes."""

    timeout_ms: int
    attempt_ms: int  #: the time of one attempt, if that of the client is longer
    scope: str
    idempotency_key: str  #: of writes: send a call again under the key of the call before to learn its outcome
    fence: Fence
    stale: bool  #: of reads that take it: answer from the node's own state
    min_index: int  #: of reads that take it: wait until the node has applied this index
    cancelled: threading.Event  #: set it to end the retries of a call, and a watch at the next sign of life; one attempt is not interrupted


@dataclass(frozen=True)
class Request:
    """One call. `path` is one of the OpenAPI document, with its parameters in braces."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    data: bytes | str | None = None  #: bytes with a content type in headers, in place of body
    options: CallOptions = field(default_factory=lambda: CallOptions())

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True)
class Answer:
    """The answer to a call. `data` has its bytes."""

    status: int
    headers: Mapping[str, str]
    index: int  #: log index of the answer
    data: bytes

    @property
    def is_json(self) -> bool:
        """Whether the answer says that it is JSON."""
        return self.headers.get("content-type", "").startswith("application/json")

    @cached_property
    def body(self) -> Any:
        """The decoded JSON, or None if the answer has none. JSON that is broken raises RefusedError with code `internal`."""
        if not self.is_json:
            return None
        try:
            return json.loads(self.data)
        except ValueError as broken:
            raise refusal("internal", f"the answer of the node is not valid JSON: {broken}") from broken


def _endpoint(url: str) -> str:
    """Returns a base URL without a slash at its end."""
    try:
        valid = re.fullmatch(r"\s*https?://[^/\s]\S*\s*", url, re.IGNORECASE) and urlsplit(url.strip()).port != 0
    except ValueError:  # the port is no number
        valid = False
    if not valid:
        raise refusal("invalid", f"the endpoint {url!r} is not a base URL: give one such as http://127.0.0.1:7600")
    return url.strip().rstrip("/")


class Transport:
    """Sends calls. Many threads may use one."""

    def __init__(
        self,
        endpoints: str | Iterable[str],
        *,
        token: str | Callable[[], str] | None = None,
        scope: str | None = None,
        timeout_ms: int = 30_000,
        attempt_ms: int = 10_000,
        lone_surrogates: LoneSurrogates = "replace",
        http: Http | None = None,
    ) -> None:
        self.endpoints = [_endpoint(each) for each in ([endpoints] if isinstance(endpoints, str) else endpoints)]
        if not self.endpoints:
            raise refusal("invalid", "there are no endpoints: give the base URL of at least one node")
        self._token, self._scope = token, scope
        self._timeout_ms, self._attempt_ms = timeout_ms, attempt_ms
        self._policy: LoneSurrogates = lone_surrogates
        self._http = http or StandardHttp()
        self._lock = threading.Lock()
        self._at = random.randrange(len(self.endpoints))  # guarded by _lock
        self._cluster = ""  # set once

    @property
    def endpoint(self) -> str:
        """The endpoint that the next attempt goes to."""
        with self._lock:
            return self.endpoints[self._at]

    def leave(self, endpoint: str) -> None:
        """Moves on to the next endpoint, unless another call has left this one before."""
        with self._lock:
            if self.endpoints[self._at] == endpoint:
                self._at = (self._at + 1) % len(self.endpoints)

    def close(self) -> None:
        """Closes the idle connections."""
        self._http.close()

    def call(self, request: Request) -> Answer:
        """Makes a call and returns its answer."""
        return self._send(request)

    def open(self, request: Request, last: str, silence: float, endpoint: str) -> Stream:
        """Opens a stream of events after the event with the id last."""
        headers = self._headers(request, None, None) | {"Accept": "text/event-stream"}
        if last:
            headers["Last-Event-ID"] = last
        stream = self._http.open(endpoint + self._url(request), headers, silence)
        if stream.status != 200:
            try:
                raise RefusedError(problem_of(stream.status, b"".join(stream.pieces())))
            finally:
                stream.close()
        return stream

    def _send(self, request: Request) -> Answer:
        name, options = request.name, request.options
        write = name not in READS
        given = options.get("idempotency_key")
        keyed = takes_key(name, request.body, given)
        repeatable = not write or keyed
        key = (given or secrets.token_hex(16)) if keyed else None
        body = self._encoded(request)
        deadline = time.monotonic() + options.get("timeout_ms", self._timeout_ms) / 1000
        ambiguous: Exception | None = None
        attempt = 0
        while True:
            endpoint = self.endpoint
            try:
                return self._attempt(request, endpoint, key, body, deadline, not repeatable)
            except RefusedError as refused:
                failure: Exception = refused
                if refused.code == "unknown":
                    ambiguous = ambiguous or refused
                elif write and refused.code in UNDECIDED:
                    raise UnknownError(f"the node says {refused}", key) from (ambiguous or refused)
                elif ambiguous is not None and write and inconclusive(name, refused):
                    raise UnknownError("a later attempt was refused, an earlier one may have been applied", key) from ambiguous
                elif refused.code not in TRANSIENT:
                    raise
            except OSError as lost:
                failure = lost
                if write and not isinstance(lost, NotSentError):
                    ambiguous = ambiguous or lost
            self.leave(endpoint)
            attempt += 1
            wait = pause(failure, attempt, len(self.endpoints))
            more = time.monotonic() + wait < deadline and (repeatable or ambiguous is None)
            if not more or sleep(options.get("cancelled"), wait):
                raise _ended(write, ambiguous, failure, key)

    def _attempt(self, request: Request, endpoint: str, key: str | None, body: bytes | None, deadline: float, fresh: bool) -> Answer:
        attempt_ms = min(request.options.get("attempt_ms", self._attempt_ms), self._attempt_ms)
        within = max(0.001, min(attempt_ms / 1000, deadline - time.monotonic()))
        headers = self._headers(request, body, key)
        headers["Dormouse-Timeout-Ms"] = str(math.ceil(within * 1000))
        # The node answers at the timeout it was given; the client gives up a little later. On a slow connection another attempt would take as long.
        response = self._http.send(request.method, endpoint + self._url(request), headers, body, within + 1, deadline + 1, fresh)
        if not self._cluster:
            self._cluster = response.headers.get("dormouse-cluster", "")
        if 200 <= response.status < 300:
            answer = Answer(response.status, response.headers, int(response.headers.get("dormouse-index", 0)), response.body)
            if request.name not in READS:
                try:
                    answer.body  # noqa: B018 # the property keeps what it decoded
                except RefusedError as broken:  # what came of the write was not heard
                    raise ConnectionError(str(broken)) from broken
                if answer.data and not answer.is_json and request.method != "GET":  # such as the page of a proxy
                    raise ConnectionError(f"the answer has status {response.status} and is no JSON: it is not of a node")
            return answer
        raise RefusedError(problem_of(response.status, response.body))

    def _encoded(self, request: Request) -> bytes | None:
        if request.data is not None:
            return well_formed(request.data, self._policy).encode() if isinstance(request.data, str) else bytes(request.data)
        return None if request.body is None else encode(request.body, self._policy)

    def _headers(self, request: Request, body: bytes | None, key: str | None) -> dict[str, str]:
        headers = dict(request.headers)
        if body is not None and "Content-Type" not in headers:
            headers["Content-Type"] = "application/json" if request.data is None else "application/octet-stream"
        options = request.options
        scope = self._scope if options.get("scope") is None else options["scope"]
        if scope is not None:
            headers["Dormouse-Scope"] = _header(well_formed(scope, self._policy))
        if self._cluster:
            headers["Dormouse-Cluster"] = self._cluster
        if key is not None:
            headers["Idempotency-Key"] = _header(well_formed(key, self._policy))
        fence = options.get("fence")
        if fence is not None and request.name not in READS:
            plain = re.fullmatch(r"[ -~]*", fence.claim)
            quoted = json.dumps(fence.claim) if plain else f'%"{quote(well_formed(fence.claim, self._policy), safe="")}"'
            headers["Dormouse-Fence"] = f"claim={quoted};epoch={fence.epoch}"
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._bearer(self._token).rstrip()}"  # files of tokens end with a line break
        for name, value in headers.items():
            if not _HEADER.fullmatch(value):
                raise refusal("invalid", f"the header {name} has a line break or another character that headers cannot have")
        return headers

    @staticmethod
    def _bearer(token: str | Callable[[], str]) -> str:
        """Returns the current token. If the caller's function fails, nothing was sent: that is a refusal."""
        try:
            return token() if callable(token) else token
        except Exception as error:
            raise refusal("unauthenticated", f"the function of the token failed: {error}") from error

    def _url(self, request: Request) -> str:
        def param(match: re.Match[str]) -> str:
            value = request.params.get(match[1], "")
            if value == "":
                raise refusal("invalid", f"{match[1]} is missing")
            if value in (".", ".."):  # a URL with such a part is another URL, even if its dots are percent-encoded
                raise refusal("invalid", f'{match[1]} is "{value}": choose another id')
            return quote(well_formed(value, self._policy), safe="")

        path = re.sub(r"\{(\w+)\}", param, request.path)
        query = dict(request.query)
        if request.name in READS and request.name not in WITHOUT_STALE:
            query["stale"] = request.options.get("stale") or None
        if request.name in READS and request.name not in WITHOUT_MIN_INDEX:
            query["min_index"] = request.options.get("min_index")
        pairs: list[tuple[str, str]] = []
        for name, value in query.items():
            for each in [] if value is None else value if isinstance(value, (list, tuple)) else [value]:
                pairs.append((name, str(each).lower() if isinstance(each, bool) else well_formed(str(each), self._policy)))
        return f"{path}?{urlencode(pairs)}" if pairs else path


def _header(text: str) -> str:
    """Returns text as http.client sends it as UTF-8: a byte a character."""
    return text.encode().decode("latin-1")


def _ended(write: bool, ambiguous: Exception | None, failure: Exception, key: str | None) -> Exception:
    if write and ambiguous is not None:
        unknown = UnknownError("the time for the call is over", key)
        unknown.__cause__ = ambiguous
        return unknown
    if isinstance(failure, RefusedError) and failure.code != "unknown":
        return failure
    error = refusal("unavailable", "no node answered in time")
    error.__cause__ = failure
    return error
