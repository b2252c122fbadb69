"""How calls reach a node: connections of the standard library, or of httpx."""

from __future__ import annotations

import http.client
import os
import selectors
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

#: Idle connections that are kept for each node.
IDLE_MAX = 16

#: The seconds within which a stream opens.
OPENING_MAX = 10.0

#: The bytes of a long body that are sent at once.
PART_BYTES = 64 << 10


@dataclass(frozen=True)
class Response:
    """An answer: `headers` has lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NotSentError(ConnectionError):
    """No connection came about, so nothing was sent."""


class Stream(Protocol):
    """An answer that goes on."""

    status: int

    def pieces(self) -> Iterator[bytes]:
        """Yields the bytes as they arrive. It raises OSError when the connection is lost or silent."""
        ...

    def close(self) -> None:
        """Ends the stream, also while another thread waits for a piece."""
        ...


class Http(Protocol):
    """What a client needs of an HTTP library. Its methods may be called by many threads at once."""

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, silence: float, until: float, fresh: bool) -> Response:
        """Makes one request. It raises OSError if no whole answer arrives, NotSentError if the request was not sent.

        The request is lost after this silence in seconds, in which no part of the answer came and no part of a long
        body went, and at the time until of time.monotonic. With fresh it uses a new connection, so that a lost connection means a lost request.
        """
        ...

    def open(self, url: str, headers: Mapping[str, str], silence: float) -> Stream:
        """Opens a stream, which is lost after this silence in seconds."""
        ...

    def close(self) -> None:
        """Closes the idle connections that this object opened."""
        ...


class StandardHttp:
    """Connections of http.client, kept and used again. `context` is the TLS context for https."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._idle: dict[tuple[int, str, str], list[http.client.HTTPConnection]] = {}  # guarded by _lock

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, silence: float, until: float, fresh: bool) -> Response:
        parts = urlsplit(url)
        # A forked process has the connections of its parent, but must not use them.
        key = (os.getpid(), parts.scheme, parts.netloc)
        connection = self._connection(key, _left(silence, until), fresh)
        kept = False
        try:
            sent = True
            sock = connection.sock or _connected(connection, parts.netloc)

            def wait() -> None:
                sock.settimeout(_left(silence, until))

            try:
                content, sized = _in_parts(body, wait)
                wait()
                connection.request(method, url[url.index(parts.netloc) + len(parts.netloc) :], body=content, headers={**headers, **sized})
            except (BrokenPipeError, ConnectionResetError):
                sent = False  # a node that refuses a large body answers before it has read all of it
            wait()
            answer = connection.getresponse()
            received = _received(answer, wait)
            kept = sent and not answer.will_close
            return Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, received)
        except NotSentError:
            self._forget(key)
            raise
        except (http.client.HTTPException, OSError) as error:
            self._forget(key)
            raise ConnectionError(f"the connection to {parts.netloc} was lost: {error!r}") from error
        finally:
            self._keep(key, connection, kept)

    def open(self, url: str, headers: Mapping[str, str], silence: float) -> Stream:
        parts = urlsplit(url)
        connection = self._new(parts.scheme, parts.netloc, min(silence, OPENING_MAX))
        try:
            connection.request("GET", url[url.index(parts.netloc) + len(parts.netloc) :], headers=dict(headers))
            sock = connection.sock
            assert sock is not None
            answer = connection.getresponse()
            sock.settimeout(silence)
            return _StandardStream(connection, sock, answer)
        except http.client.HTTPException as error:
            connection.close()
            raise ConnectionError(f"the connection to {parts.netloc} was lost: {error!r}") from error
        except OSError:
            connection.close()
            raise

    def close(self) -> None:
        """Closes the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection in connections:
                connection.close()

    def _new(self, scheme: str, netloc: str, timeout: float) -> http.client.HTTPConnection:
        if scheme == "https":
            return http.client.HTTPSConnection(netloc, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(netloc, timeout=timeout)

    def _connection(self, key: tuple[int, str, str], timeout: float, fresh: bool) -> http.client.HTTPConnection:
        if not fresh:
            while (connection := self._idle_connection(key)) is not None:
                if connection.sock is not None and not _readable(connection.sock):
                    connection.timeout = timeout
                    connection.sock.settimeout(timeout)
                    return connection
                connection.close()
        _pid, scheme, netloc = key
        return self._new(scheme, netloc, timeout)

    def _idle_connection(self, key: tuple[int, str, str]) -> http.client.HTTPConnection | None:
        with self._lock:
            idle = self._idle.get(key)
            return idle.pop() if idle else None

    def _forget(self, key: tuple[int, str, str]) -> None:
        """Closes the idle connections to a node after one was lost: the others are likely lost too."""
        with self._lock:
            idle = self._idle.pop(key, [])
        for connection in idle:
            connection.close()

    def _keep(self, key: tuple[int, str, str], connection: http.client.HTTPConnection, kept: bool) -> None:
        if kept:
            with self._lock:
                idle = self._idle.setdefault(key, [])
                if len(idle) < IDLE_MAX:
                    idle.append(connection)
                    return
        connection.close()


def _readable(sock: socket.socket) -> bool:
    """Reports whether an idle connection was closed by the node, or has what no request asked for."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return bool(selector.select(0))


def _connected(connection: http.client.HTTPConnection, netloc: str) -> socket.socket:
    try:
        connection.connect()
    except OSError as error:
        raise NotSentError(f"no connection to {netloc}: {error!r}") from error
    assert connection.sock is not None
    return connection.sock


def _left(silence: float, until: float) -> float:
    """Returns how many seconds the next step of a request may take."""
    left = min(silence, until - time.monotonic())
    if left <= 0:
        raise TimeoutError("the time for the call is over")
    return left


class _Parts:
    """A long body, part by part. It calls wait before each part."""

    def __init__(self, body: bytes, wait: Callable[[], object]) -> None:
        self._body, self._wait = body, wait

    def __iter__(self) -> Iterator[bytes]:
        for at in range(0, len(self._body), PART_BYTES):
            self._wait()
            yield self._body[at : at + PART_BYTES]


def _in_parts(body: bytes | None, wait: Callable[[], object]) -> tuple[bytes | _Parts | None, dict[str, str]]:
    """Returns a body as it is sent, and the header that its parts need."""
    if body is None or len(body) <= PART_BYTES:
        return body, {}
    return _Parts(body, wait), {"Content-Length": str(len(body))}


def _received(answer: http.client.HTTPResponse, wait: Callable[[], object]) -> bytes:
    """Reads the body of an answer. It calls wait before each piece."""
    pieces = list[bytes]()
    while not answer.isclosed():
        wait()
        if not (piece := answer.read1(1 << 20)):
            break
        pieces.append(piece)
    if answer.length:
        raise http.client.IncompleteRead(b"".join(pieces), answer.length)
    answer.close()
    return b"".join(pieces)


class _StandardStream:
    def __init__(self, connection: http.client.HTTPConnection, sock: socket.socket, answer: http.client.HTTPResponse) -> None:
        self.status = answer.status
        self._connection = connection
        self._sock = sock
        self._answer = answer

    def pieces(self) -> Iterator[bytes]:
        try:
            while piece := self._answer.read1(65536):
                yield piece
        except (http.client.HTTPException, ValueError, AttributeError) as error:  # the last two: closed meanwhile
            raise ConnectionError(f"the stream was lost: {error!r}") from error

    def close(self) -> None:
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it was closed before
        self._connection.close()


class HttpxHttp:
    """The same over an httpx.Client of the caller, who closes it."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, silence: float, until: float, fresh: bool) -> Response:
        import httpx

        def wait() -> float:  # httpx bounds the silence itself
            return _left(silence, until)

        content, sized = _in_parts(body, wait)
        more = {"Connection": "close"} if fresh else {}
        encoded = [(name.encode(), value.encode("latin-1")) for name, value in {**headers, **sized, **more}.items()]
        pieces = list[bytes]()
        try:
            with self._client.stream(method, url, headers=encoded, content=content, timeout=wait()) as answer:
                for piece in answer.iter_bytes():
                    wait()
                    pieces.append(piece)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NotSentError(f"no connection to {url}: {error!r}") from error
        except httpx.HTTPError as error:
            raise ConnectionError(f"the request was lost: {error!r}") from error
        return Response(answer.status_code, {name.lower(): value for name, value in answer.headers.items()}, b"".join(pieces))

    def open(self, url: str, headers: Mapping[str, str], silence: float) -> Stream:
        import httpx

        encoded = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        try:
            request = self._client.build_request("GET", url, headers=encoded, timeout=silence)
            return _HttpxStream(self._client.send(request, stream=True))
        except httpx.HTTPError as error:
            raise ConnectionError(f"the request was lost: {error!r}") from error


    def close(self) -> None:
        """Does nothing: the caller closes the httpx.Client."""


class _HttpxStream:
    def __init__(self, answer: Any) -> None:
        self.status: int = answer.status_code
        self._answer = answer

    def pieces(self) -> Iterator[bytes]:
        import httpx

        try:
            yield from self._answer.iter_bytes()
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise ConnectionError(f"the stream was lost: {error!r}") from error

    def close(self) -> None:
        stream = self._answer.extensions.get("network_stream")
        sock = stream.get_extra_info("socket") if stream is not None else None
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it was closed before
        self._answer.close()
