"""A node that answers by a script."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dormouse import Client
from dormouse.http import Response


@dataclass
class Got:
    url: str
    method: str
    headers: Mapping[str, str]
    body: bytes | None

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.url).query)


Reply = Callable[[Got], Response]


class Stream:
    def __init__(self, response: Response) -> None:
        self.status, self.response = response.status, response

    def pieces(self) -> Iterator[bytes]:
        yield self.response.body

    def close(self) -> None:
        pass


class Scripted:
    """Stands in for HTTP. Each attempt gets the next reply; the last one is repeated."""

    def __init__(self, replies: list[Reply]) -> None:
        self.replies, self.got = replies, list[Got]()

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, silence: float, until: float, fresh: bool) -> Response:
        got = Got(url, method, dict(headers), body)
        self.got.append(got)
        return self.replies[min(len(self.got), len(self.replies)) - 1](got)

    def open(self, url: str, headers: Mapping[str, str], silence: float) -> Stream:
        return Stream(self.send("GET", url, headers, None, silence, 0, True))

    def close(self) -> None:
        pass


def scripted(*replies: Reply, **options: Any) -> tuple[Client, list[Got]]:
    http = Scripted(list(replies))
    return Client(["http://a", "http://b", "http://c"], http=http, **{"timeout_ms": 10_000, **options}), http.got


def answer(body: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda got: Response(status, {"content-type": "application/json", **named}, json.dumps(body).encode())


def problem(code: str, status: int, **more: Any) -> Reply:
    return answer({"type": f"urn:dormouse:problem:{code}", "title": code, "status": status, "detail": code, "code": code, **more}, status)


def lost(got: Got) -> Response:
    raise ConnectionResetError("the connection was lost")


def broken(got: Got) -> Response:
    return Response(200, {"content-type": "application/json", "etag": '"1"'}, b'{"key":')


def stream(text: str) -> Reply:
    return lambda got: Response(200, {"content-type": "text/event-stream"}, text.encode())
