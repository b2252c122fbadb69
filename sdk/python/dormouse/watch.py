"""Streams of events that continue after a lost connection."""

from __future__ import annotations

import codecs
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from .errors import RefusedError
from .http import Stream
from .transport import Request, Transport
from .wait import pause

T = TypeVar("T")

#: The silence in seconds after which a stream counts as lost: a node sends a sign of life each 15 s.
SILENCE = 45.0

_LASTING = frozenset({"overloaded", "unavailable", "not_owner", "unknown", "internal"})


@dataclass(frozen=True)
class Event:
    """One server-sent event. `id` is the last id of the stream so far."""

    event: str
    data: str
    id: str


def parse_events(pieces: Iterable[bytes]) -> Iterator[Event]:
    """Reads server-sent events. An event without data is passed on too: it has only an id."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    event, last, data = "", "", list[str]()
    unfinished, after_cr = list[str](), False  # the pieces of a line are joined at its end
    for text in map(decoder.decode, pieces):
        if text == "":
            continue
        if after_cr:
            text = text.removeprefix("\n")  # the second half of a CR LF
        after_cr = text.endswith("\r")
        first, *others = re.split(r"\r\n|\n|\r", text)
        unfinished.append(first)
        for begun in others:
            line, unfinished = "".join(unfinished), [begun]
            if line == "":
                yield Event(event or "message", "\n".join(data), last)
                event, data = "", []
                continue
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                event = value
            elif name == "data":
                data.append(value)
            elif name == "id" and "\0" not in value:
                last = value


class Watch(Generic[T]):
    """An iterator over what a stream brings, which continues at another node after a lost connection.

    `close` ends it, also from another thread; a `with` statement closes it. The option `cancelled` ends it too, at the
    next sign of life of the node, which sends one each 15 s. One thread iterates.
    """

    def __init__(self, transport: Transport, request: Request, decode: Callable[[Event], T | None], last: str = "") -> None:
        self._transport, self._request, self._decode = transport, request, decode
        self._last = last
        self._closed = threading.Event()
        self._cancelled = request.options.get("cancelled")
        self._lock = threading.Lock()
        self._stream: Stream | None = None  # guarded by _lock
        self._items = self._follow()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return next(self._items)

    def __enter__(self) -> Watch[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the iteration."""
        self._closed.set()
        with self._lock:
            stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    def _over(self) -> bool:
        return self._closed.is_set() or (self._cancelled is not None and self._cancelled.is_set())

    def _follow(self) -> Iterator[T]:
        attempt = 0
        while not self._over():
            endpoint = self._transport.endpoint
            failure: Exception | None = None
            try:
                for event in parse_events(self._pieces(endpoint)):
                    if self._over():
                        return
                    if event.event == "problem":
                        raise RefusedError(json.loads(event.data))
                    item = None
                    if event.data:
                        attempt, item = 0, self._decode(event)
                    # The place moves on first: an exception in the caller's loop does not bring the event again.
                    self._last = event.id or self._last
                    if item is not None:
                        yield item
            except RefusedError as refused:
                if refused.code not in _LASTING:
                    raise
                failure = refused
            except OSError:
                pass  # it continues at the next node
            finally:
                self._drop()
            self._transport.leave(endpoint)
            attempt += 1
            self._closed.wait(pause(failure, attempt, len(self._transport.endpoints)))

    def _pieces(self, endpoint: str) -> Iterator[bytes]:
        stream = self._transport.open(self._request, self._last, SILENCE, endpoint)
        with self._lock:
            self._stream = stream
        if self._closed.is_set():
            return
        for piece in stream.pieces():
            if self._over():
                return
            yield piece

    def _drop(self) -> None:
        with self._lock:
            stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
