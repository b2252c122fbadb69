"""Runs the conformance cases of sdk/conformance."""

from __future__ import annotations

import json
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from dormouse import Client, Fence, RefusedError

SDK = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = json.loads((SDK.parent / "server/rest/testdata/openapi.json").read_text())
OPERATIONS = {operation["operationId"]: (method.upper(), path) for path, item in DOCUMENT["paths"].items() for method, operation in item.items()}

Json = dict[str, Any]
Options = dict[str, Any]

#: The calls for which the client has a method of its own; all others go through call. p: params, q: query, b: body, o: options.
METHODS: dict[str, Callable[[Client, Json, Json, Any, Options], Any]] = {
    "delete-value": lambda c, p, q, b, o: c.values.delete(p["key"], **o),
    "list-values": lambda c, p, q, b, o: c.values.list(**q, **o),
    "get-value": lambda c, p, q, b, o: c.values.get(p["key"], **o).data,
    "put-checkpoint": lambda c, p, q, b, o: c.checkpoints.put(p["key"], b, **o),
    "patch-checkpoint": lambda c, p, q, b, o: c.checkpoints.patch(p["key"], b, **o),
    "get-checkpoint": lambda c, p, q, b, o: c.checkpoints.get(p["key"], **o),
    "append-entries": lambda c, p, q, b, o: c.threads.append(p["id"], b["entries"], expected_rev=b.get("expected_rev"), **o),
    "load-entries": lambda c, p, q, b, o: c.threads.entries(p["id"], from_seq=q.get("from"), tail=q.get("tail"), kind=q.get("kind"), **o),
    "get-entry": lambda c, p, q, b, o: c.threads.entry(p["id"], p["entry"], **o),
    "get-thread": lambda c, p, q, b, o: c.threads.get(p["id"], **o),
    "fork-thread": lambda c, p, q, b, o: c.threads.fork(p["id"], b, **o),
    "compact-thread": lambda c, p, q, b, o: c.threads.compact(p["id"], b, **o),
    "delete-thread": lambda c, p, q, b, o: c.threads.delete(p["id"], seal_ms=q.get("seal_ms"), **o),
    "list-threads": lambda c, p, q, b, o: c.threads.list(**q, **o),
    "hibernate-agent": lambda c, p, q, b, o: c.agents.hibernate(p["key"], b, **o),
    "thaw-agent": lambda c, p, q, b, o: c.agents.thaw(p["key"], tail=q.get("tail"), **o),
    "take-claim": lambda c, p, q, b, o: c.claims.take(p["name"], b["holder"], b.get("ttl_ms"), **o),
    "renew-claim": lambda c, p, q, b, o: c.claims.renew(p["name"], b["holder"], b["epoch"], b.get("ttl_ms"), **o),
    "release-claim": lambda c, p, q, b, o: c.claims.release(p["name"], b["holder"], b["epoch"], **o),
    "put-session": lambda c, p, q, b, o: c.sessions.put(p["id"], b, **o),
    "get-session": lambda c, p, q, b, o: c.sessions.get(p["id"], **o),
    "claim-session": lambda c, p, q, b, o: c.sessions.claim(p["id"], b, **o),
    "recover-session": lambda c, p, q, b, o: c.sessions.recover(p["id"], b, **o),
    "checkpoint-session": lambda c, p, q, b, o: c.sessions.checkpoint(p["id"], b, **o),
    "commit-session": lambda c, p, q, b, o: c.sessions.commit(p["id"], b, **o),
    "get-review": lambda c, p, q, b, o: c.reviews.get(p["review"], **o),
    "decide-review": lambda c, p, q, b, o: c.reviews.decide(p["review"], b, **o),
    "put-memory": lambda c, p, q, b, o: c.memory.put(p["agent"], p["id"], b, **o),
    "get-memory": lambda c, p, q, b, o: c.memory.get(p["agent"], p["id"], **o),
    "delete-memory": lambda c, p, q, b, o: c.memory.delete(p["agent"], p["id"], **o),
    "recall": lambda c, p, q, b, o: c.memory.recall(b, **o),
    "commit": lambda c, p, q, b, o: c.commit(b["ops"], **o),
    "read": lambda c, p, q, b, o: c.read(b["reads"], **o),
}


def cases() -> Iterator[tuple[str, list[Json]]]:
    for file in sorted((SDK / "conformance").glob("*.json")):
        for case in json.loads(file.read_text())["cases"]:
            yield f"{file.name}: {case['name']}", case["steps"]


class Run:
    """One run of a case, in a scope of its own."""

    def __init__(self, client: Client, scope: str) -> None:
        self.client, self.scope = client, scope
        self.saved: Json = {}
        self.before: Any = None

    def run(self, steps: list[Json]) -> None:
        for number, step in enumerate(steps):
            try:
                self.step(step)
            except Exception as error:
                error.add_note(f"step {number}, {step.get('call')}")
                raise

    def step(self, step: Json) -> None:
        if "wait_ms" in step:
            time.sleep(step["wait_ms"] / 1000)
            return
        until = time.monotonic() + step.get("within_ms", 0) / 1000
        while True:
            try:
                return self.once(step)
            except (AssertionError, RefusedError):
                if time.monotonic() > until:
                    raise
            time.sleep(0.1)

    def once(self, step: Json) -> None:
        try:
            got = self.call(step)
        except RefusedError as refused:
            if "refused" not in step:
                raise
            return self.match("", step["refused"], refused.problem)
        assert "refused" not in step, f"it was not refused: {got}"
        if "expect_bytes" in step:
            assert got == step["expect_bytes"].encode(), f"the bytes are {got}"
        if "expect" in step:
            self.match("", step["expect"], got)
        if step.get("same"):
            assert got == self.before, f"{got} is not {self.before}"
        self.before = got
        for name, pointer in step.get("save", {}).items():
            value = got
            for member in pointer[1:].split("/"):
                value = value[member]
            self.saved[name] = value

    def call(self, step: Json) -> Any:
        options: Options = {"scope": self.scope}
        if "key" in step:
            options["idempotency_key"] = f"{self.scope}/{step['key']}"
        if "fence" in step:
            options["fence"] = Fence(step["fence"]["claim"], self.filled(step["fence"]["epoch"]))
        params, query, body = (self.filled(step.get(part)) for part in ("params", "query", "body"))
        name = step["call"]
        if name == "put-value":
            return self.client.values.put(
                params["key"], step["bytes"], content_type=step["content_type"], if_revision=(query or {}).get("if_revision"), **options
            )
        if name in METHODS:
            return METHODS[name](self.client, params or {}, query or {}, body, options)
        method, path = OPERATIONS[name]
        return self.client.call(method, path, params=params, query=query, body=body, **options).body

    def match(self, at: str, want: Any, got: Any) -> None:
        if isinstance(want, dict):
            if isinstance(want.get("$"), str):
                return self.match(at, self.saved[want["$"]], got)
            if "$above" in want:
                assert isinstance(got, (int, float)) and got > want["$above"], f"{at} is {got}"
                return
            if want.get("$any"):
                assert got is not None, f"{at} is missing"
                return
            assert isinstance(got, dict) or hasattr(got, "keys"), f"{at} is {got}"
            for member, each in want.items():
                self.match(f"{at}/{member}", each, got.get(member))
        elif isinstance(want, list):
            assert isinstance(got, list) and len(got) == len(want), f"{at} is {got}"
            for i, each in enumerate(want):
                self.match(f"{at}/{i}", each, got[i])
        else:
            assert got == want and isinstance(got, bool) == isinstance(want, bool), f"{at} is {got!r}, want {want!r}"

    def filled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("$"), str):
            return self.saved[value["$"]]
        return {name: self.filled(each) for name, each in value.items()}
