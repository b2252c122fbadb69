import asyncio
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
from typing import Any, Protocol, runtime_checkable

from dormouse import Client, RefusedError
from dormouse_openai_agents import DormouseSession


@runtime_checkable
class Session(Protocol):
    """The protocol of the library, whose package is not installed here."""

    session_id: str
    session_settings: Any

    async def get_items(self, limit: int | None = None) -> list[Any]: ...
    async def add_items(self, items: list[Any]) -> None: ...
    async def pop_item(self) -> Any | None: ...
    async def clear_session(self) -> None: ...


def item(n: int) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "input_text", "text": f"é 😀 {n}"}]}


class OneThread:
    """A client of one thread, for what needs no cluster."""

    def __init__(self) -> None:
        self.threads = self
        self.entries: list[dict[str, Any]] = []
        self.floor = 0

    def append(self, thread: str, entries: list[dict[str, Any]]) -> None:
        assert len(entries) <= 1024, f"{len(entries)} entries in one commit"
        self.entries += [{**each, "seq": len(self.entries) + at} for at, each in enumerate(json.loads(json.dumps(entries)))]

    def read(self, reads: list[dict[str, Any]]) -> dict[str, Any]:
        page: dict[str, Any] = {"found": {"items": json.loads(json.dumps(self.entries[reads[1]["from"] :])), "next": None}}
        if reads[1]["from"] < self.floor:
            page = {"error": {"code": "compacted", "status": 410, "detail": "compacted", "floor": self.floor}}
        return {"answers": [{"found": {"incarnation": 1, "floor": self.floor}}, page]}


class Alone(unittest.IsolatedAsyncioTestCase):
    async def test_what_a_caller_does_to_items_stays_with_it(self):
        session = DormouseSession("s", OneThread())  # type: ignore[arg-type]
        await session.add_items([item(0), item(1)])
        items = await session.get_items()
        items[0]["content"][0]["text"] = "changed"
        items.pop()
        self.assertEqual(await session.get_items(), [item(0), item(1)])

    async def test_many_items_are_added_in_one_commit(self):
        for count in (1024, 1025, 5000):
            client = OneThread()
            items = [item(n) for n in range(count)]
            await DormouseSession("s", client).add_items(items)  # type: ignore[arg-type]
            self.assertEqual(await DormouseSession("s", client).get_items(), items)  # type: ignore[arg-type]
            self.assertEqual(await DormouseSession("s", client).get_items(2), items[-2:])  # type: ignore[arg-type]

    async def test_a_session_goes_on_after_a_compaction(self):
        client = OneThread()
        session = DormouseSession("s", client)  # type: ignore[arg-type]
        await session.add_items([item(0), item(1)])
        self.assertEqual(len(await session.get_items()), 2)
        await session.add_items([item(n) for n in range(2, 6)])
        client.floor = 4
        for each in (session, DormouseSession("s", client)):  # type: ignore[arg-type]
            self.assertEqual(await each.get_items(), [item(4), item(5)])
        # What was read before a compaction is kept.
        client.floor = 6
        self.assertEqual(await session.get_items(), [item(4), item(5)])
        await session.add_items([item(6)])
        self.assertEqual(await session.get_items(), [item(4), item(5), item(6)])


@unittest.skipUnless(os.environ.get("DORMOUSE_URLS"), "needs a cluster: make sdk-python")
class Sessions(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.client = Client(os.environ["DORMOUSE_FOLLOWER"], token=os.environ.get("DORMOUSE_TOKEN"), scope=f"py-{time.time_ns():x}")
        self.addCleanup(self.client.close)

    def session(self, id: str = "s") -> DormouseSession:
        return DormouseSession(id, self.client)

    async def test_it_has_the_methods_of_the_protocol(self):
        self.assertIsInstance(self.session(), Session)

    async def test_items_are_returned_in_the_order_in_which_they_were_added(self):
        session = self.session()
        self.assertEqual(await session.get_items(), [])
        await session.add_items([])
        await session.add_items([item(0), item(1)])
        await session.add_items([item(2)])
        self.assertEqual(await session.get_items(), [item(0), item(1), item(2)])
        self.assertEqual(await session.get_items(2), [item(1), item(2)])
        self.assertEqual(await session.get_items(9), [item(0), item(1), item(2)])
        self.assertEqual(await session.get_items(0), [])
        self.assertEqual(await self.session().get_items(), [item(0), item(1), item(2)])
        self.assertEqual(await self.session("other").get_items(), [])

    async def test_the_settings_limit_what_is_returned(self):
        class Settings:
            limit = 1

        await self.session().add_items([item(0), item(1)])
        self.assertEqual(await DormouseSession("s", self.client, session_settings=Settings()).get_items(), [item(1)])

    async def test_the_last_item_is_popped(self):
        session = self.session()
        self.assertIsNone(await session.pop_item())
        await session.add_items([item(0), item(1)])
        self.assertEqual(await session.pop_item(), item(1))
        await session.add_items([item(2)])
        self.assertEqual(await session.get_items(), [item(0), item(2)])
        self.assertEqual(await self.session().get_items(), [item(0), item(2)])

    async def test_items_that_many_sessions_pop_at_once_come_once(self):
        await self.session().add_items([item(n) for n in range(12)])
        popped = await asyncio.gather(*(self.session().pop_item() for _ in range(14)))
        self.assertEqual(sorted(each["content"][0]["text"] for each in popped if each), sorted(item(n)["content"][0]["text"] for n in range(12)))
        self.assertEqual(popped.count(None), 2)

    async def test_a_cleared_session_begins_again(self):
        session, other = self.session(), self.session()
        await session.clear_session()
        await session.add_items([item(0), item(1)])
        self.assertEqual(len(await other.get_items()), 2)
        await session.clear_session()
        self.assertEqual(await session.get_items(), [])
        await session.add_items([item(2)])
        self.assertEqual(await other.get_items(), [item(2)])
        self.assertEqual(await other.pop_item(), item(2))

    async def test_a_session_goes_on_after_its_thread_was_compacted(self):
        session = self.session()
        await session.add_items([item(0), item(1)])
        self.assertEqual(len(await session.get_items()), 2)
        await self.session().add_items([item(2), item(3)])
        self.client.threads.compact("openai-agents/s", {"before_seq": 3})
        self.assertEqual(await session.get_items(), [item(3)])
        self.assertEqual(await self.session().get_items(), [item(3)])
        self.assertEqual(await session.pop_item(), item(3))

    async def test_a_long_history_is_read_whole_and_too_many_bytes_at_once_are_refused(self):
        session = self.session()
        for part in range(3):
            await session.add_items([item(part * 1000 + n) for n in range(1000)])
        self.assertEqual(await self.session().get_items(), [item(n) for n in range(3000)])
        with self.assertRaises(RefusedError):
            await session.add_items([{"text": "x" * (3 << 20)} for _ in range(3)])
        await session.add_items([item(3000 + n) for n in range(1025)])
        self.assertEqual(await self.session().get_items(), [item(n) for n in range(4025)])

    def test_the_example_of_the_readme_runs(self):
        example = re.search(r"```python\n(.*?)```", (pathlib.Path(__file__).parents[1] / "README.md").read_text(), re.S)
        done = subprocess.run([sys.executable, "-c", example[1]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Hello", done.stdout)
