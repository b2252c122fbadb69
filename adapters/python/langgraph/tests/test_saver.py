import asyncio
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
from unittest import mock

from dormouse import Client, RefusedError
from dormouse_langgraph import DormouseSaver


def config(thread="t", ns="", checkpoint=None):
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, **({"checkpoint_id": checkpoint} if checkpoint else {})}}


def checkpoint(id, **values):
    return {"v": 4, "id": id, "ts": "2026-01-01T00:00:00Z", "channel_values": values, "channel_versions": {name: 1 for name in values}, "versions_seen": {}}


def ids(found):
    return [each.checkpoint["id"] for each in found]


@unittest.skipUnless(os.environ.get("DORMOUSE_URLS"), "needs a cluster: make sdk-python")
class Saver(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(os.environ["DORMOUSE_FOLLOWER"], token=os.environ.get("DORMOUSE_TOKEN"), scope=f"py-{time.time_ns():x}")
        self.addCleanup(self.client.close)
        self.saver = DormouseSaver(self.client)

    def put(self, id, parent=None, thread="t", ns="", metadata=None, **values):
        return self.saver.put(config(thread, ns, parent), checkpoint(id, **values), metadata or {}, {})

    def test_a_missing_checkpoint_is_none(self):
        self.assertIsNone(self.saver.get_tuple(config()))
        self.assertIsNone(self.saver.get_tuple(config(checkpoint="c1")))
        self.put("c1")
        self.assertIsNone(self.saver.get_tuple(config(checkpoint="c2")))
        self.assertIsNone(self.saver.get_tuple(config(ns="child")))
        self.assertEqual(list(self.saver.list(config("other"))), [])

    def test_a_checkpoint_is_read_as_it_was_put(self):
        value = {"set": {1, 2}, "bytes": b"\0\xff", "text": "é 😀"}
        self.assertEqual(self.put("c1", metadata={"source": "input", "step": -1}, messages=value), config(checkpoint="c1"))
        self.assertEqual(self.put("c2", "c1", metadata={"source": "loop", "step": 0}), config(checkpoint="c2"))
        first = self.saver.get_tuple(config(checkpoint="c1"))
        self.assertEqual((first.config, first.checkpoint), (config(checkpoint="c1"), checkpoint("c1", messages=value)))
        self.assertEqual((first.metadata, first.parent_config, first.pending_writes), ({"source": "input", "step": -1}, None, []))
        newest = self.saver.get_tuple(config())
        self.assertEqual((newest.checkpoint["id"], newest.parent_config), ("c2", config(checkpoint="c1")))

    def test_writes_belong_to_their_checkpoint_and_come_in_their_order(self):
        self.put("c1")
        self.put("c2", "c1")
        self.saver.put_writes(config(checkpoint="c1"), [("a", 1), ("b", {2})], "task-1")
        self.saver.put_writes(config(checkpoint="c1"), [("a", 3)], "task-2", "~path")
        self.assertEqual(self.saver.get_tuple(config(checkpoint="c1")).pending_writes, [("task-1", "a", 1), ("task-1", "b", {2}), ("task-2", "a", 3)])
        self.assertEqual(self.saver.get_tuple(config()).pending_writes, [])

    def test_the_writes_of_a_repeated_task_are_the_first_ones_and_its_errors_the_last(self):
        self.put("c1")
        for value in ("first", "second"):
            self.saver.put_writes(config(checkpoint="c1"), [("a", value), ("__error__", value)], "task")
        self.assertEqual(self.saver.get_tuple(config()).pending_writes, [("task", "a", "first"), ("task", "__error__", "second")])

    def test_a_checkpoint_that_is_put_again_replaces_the_one_before(self):
        self.put("c1", value=1)
        self.put("c2", "c1", value=2)
        for value in (3, 4):
            self.put("c1", value=value)
        self.assertEqual(self.saver.get_tuple(config(checkpoint="c1")).checkpoint["channel_values"], {"value": 4})
        self.assertEqual(self.saver.get_tuple(config()).checkpoint["id"], "c2")
        self.assertEqual(ids(self.saver.list(config())), ["c2", "c1"])

    def test_the_last_of_many_pages_of_repeated_checkpoints_is_found(self):
        for n in range(12):  # more than an answer may have
            self.put("c1", value=[n, "x" * 2_000_000])
        self.assertEqual(self.saver.get_tuple(config()).checkpoint["channel_values"]["value"][0], 11)

    def test_checkpoints_are_listed_the_newest_first_and_selected(self):
        for n in range(1, 6):
            self.put(f"c{n}", f"c{n - 1}" if n > 1 else None, metadata={"step": n, "even": n % 2 == 0})
        self.put("x1", ns="child")
        self.put("o1", thread="other")
        self.assertEqual(ids(self.saver.list(config())), ["c5", "c4", "c3", "c2", "c1"])
        self.assertEqual(ids(self.saver.list(config(), limit=2)), ["c5", "c4"])
        self.assertEqual(ids(self.saver.list(config(), limit=0)), [])
        self.assertEqual(ids(self.saver.list(config(), before=config(checkpoint="c3"))), ["c2", "c1"])
        self.assertEqual(ids(self.saver.list(config(), filter={"even": True})), ["c4", "c2"])
        self.assertEqual(ids(self.saver.list(config(), filter={"even": True}, limit=1)), ["c4"])
        self.assertEqual(ids(self.saver.list(config(checkpoint="c2"))), ["c2"])
        self.assertEqual(sorted(ids(self.saver.list({"configurable": {"thread_id": "t"}}))), ["c1", "c2", "c3", "c4", "c5", "x1"])
        self.assertEqual(len(list(self.saver.list(None))), 7)

    def test_a_list_reads_the_checkpoints_that_it_yields(self):
        for n in range(1, 121):
            self.put(f"c{n:03}", f"c{n - 1:03}" if n > 1 else None, metadata={"step": n}, value=n)
        read: list[str] = []
        real = self.client.read

        def counted(reads):
            answer = real(reads)
            for each in answer["answers"]:
                found = each.get("found") or {}
                read.extend(entry["payload"]["id"] for entry in [*found.get("items", []), found] if entry.get("kind", "").startswith("checkpoint:"))
            return answer

        cases = [
            ({"limit": 1}, config(), ["c120"], 1),
            ({"limit": 2, "before": config(checkpoint="c060")}, config(), ["c059", "c058"], 3),  # the one before which it begins, too
            ({"limit": 1, "before": config(checkpoint="c0595")}, config(), ["c059"], 100),  # it is not stored: its id counts
            ({}, config(checkpoint="c002"), ["c002"], 1),
            ({"limit": 0}, config(), [], 0),
            ({"limit": 1, "filter": {"step": 100}}, config(), ["c100"], 50),
            ({}, config(), [f"c{n:03}" for n in range(120, 0, -1)], 120),
        ]
        for how, place, expected, most in cases:
            with self.subTest(how=how), mock.patch.object(self.client, "read", counted):
                read.clear()
                self.assertEqual(ids(self.saver.list(place, **how)), expected)
                self.assertEqual(len(read), most)

    def test_a_list_ends_with_its_thread(self):
        for n in range(60):
            self.put(f"c{n:02}")
        found = self.saver.list(config())
        self.assertEqual(ids([next(found)]), ["c59"])
        self.saver.delete_thread("t")
        self.put("n1")
        self.assertEqual(ids(found), [f"c{n:02}" for n in range(58, 9, -1)])  # the rest of the page that it has read

    def test_namespaces_are_apart(self):
        self.put("c1")
        self.put("x1", ns="child|grandchild:é")
        self.assertEqual(self.saver.get_tuple(config()).checkpoint["id"], "c1")
        found = self.saver.get_tuple(config(ns="child|grandchild:é"))
        self.assertEqual((found.checkpoint["id"], found.config), ("x1", config(ns="child|grandchild:é", checkpoint="x1")))

    def test_a_deleted_thread_refuses_the_late_writes_of_its_runs(self):
        self.put("c1")
        self.put("c2", "c1")
        self.saver.delete_thread("t")
        self.saver.delete_thread("t")
        self.assertIsNone(self.saver.get_tuple(config()))
        for again in (False, True):
            if again:
                self.put("n1")
            with self.assertRaises(RefusedError):
                self.saver.put_writes(config(checkpoint="c2"), [("a", 1)], "task")
            with self.assertRaises(RefusedError):
                self.put("c3", "c2")
        self.assertEqual(ids(self.saver.list(config())), ["n1"])

    def test_a_deleted_thread_refuses_the_first_checkpoints_of_the_subgraphs_of_its_runs(self):
        self.put("c1")
        self.put("x1", ns="child:1", metadata={"parents": {"": "c1"}})
        self.saver.delete_thread("t")
        late = [("child:2", {"": "c1"}), ("child:1|grand:2", {"": "c1", "child:1": "x1"}), ("child:3|grand:4", {"": "c1", "child:3": "unknown"})]
        for again in (False, True):
            if again:
                self.put("n1")
            for ns, parents in late:
                with self.subTest(ns=ns, again=again):
                    with self.assertRaises(RefusedError):
                        self.put("y1", ns=ns, metadata={"parents": parents})
                    with self.assertRaises(RefusedError):
                        self.saver.put_writes(config(ns=ns, checkpoint="y1"), [("a", 1)], "task")
            self.assertEqual(ids(self.saver.list({"configurable": {"thread_id": "t"}})), ["n1"] if again else [])
        self.put("y1", ns="child:1|grand:2", metadata={"parents": {"": "n1", "child:1": "unknown"}})
        self.assertEqual(self.saver.get_tuple(config(ns="child:1|grand:2")).checkpoint["id"], "y1")

    def test_a_deleted_thread_refuses_the_writes_of_a_checkpoint_that_it_refused(self):
        self.put("c1")
        self.saver.delete_thread("t")
        with self.assertRaises(RefusedError):
            self.put("c2", "c1")
        with self.assertRaises(RefusedError):
            self.saver.put_writes(config(checkpoint="c2"), [("a", 1)], "task")
        with self.assertRaises(RefusedError):
            self.client.threads.get("langgraph-python/t")

    def test_a_copied_thread_shares_its_checkpoints_and_changes_alone(self):
        self.put("c1", value=1)
        self.saver.put_writes(config(checkpoint="c1"), [("a", 1)], "task")
        self.saver.copy_thread("t", "copy")
        self.put("c2", "c1", thread="copy")
        self.assertEqual(ids(self.saver.list(config())), ["c1"])
        self.assertEqual(ids(self.saver.list(config("copy"))), ["c2", "c1"])
        copied = self.saver.get_tuple(config("copy", checkpoint="c1"))
        self.assertEqual((copied.checkpoint["channel_values"], copied.pending_writes), ({"value": 1}, [("task", "a", 1)]))

    def test_a_checkpoint_has_at_most_three_mebibytes(self):
        from dormouse_langgraph.entries import ENTRY_BYTES_MAX

        self.put("c1", value=b"x" * (ENTRY_BYTES_MAX - 1000))
        self.assertEqual(len(self.saver.get_tuple(config()).checkpoint["channel_values"]["value"]), ENTRY_BYTES_MAX - 1000)
        with self.assertRaisesRegex(ValueError, "may have at most"):
            self.put("c2", "c1", value=b"x" * ENTRY_BYTES_MAX)

    def test_the_coroutines_do_the_same(self):
        async def run():
            await self.saver.aput(config(), checkpoint("c1"), {}, {})
            await self.saver.aput_writes(config(checkpoint="c1"), [("a", 1)], "task", "")
            found = await self.saver.aget_tuple(config())
            listed = [each async for each in self.saver.alist(config())]
            await self.saver.acopy_thread("t", "copy")
            await self.saver.adelete_thread("t")
            return found, listed, await self.saver.aget_tuple(config())

        found, listed, gone = asyncio.run(run())
        self.assertEqual((found.pending_writes, ids(listed), gone), ([("task", "a", 1)], ["c1"], None))

    def test_the_example_of_the_readme_runs(self):
        example = re.search(r"```python\n(.*?)```", (pathlib.Path(__file__).parents[1] / "README.md").read_text(), re.S)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            names = {}
            exec(example[1], names)
        names["client"].close()
        self.assertEqual(printed.getvalue(), "['tea']\n")


class Missing(unittest.TestCase):
    def test_the_package_is_importable_without_langgraph_and_says_what_is_missing(self):
        program = "import dormouse_langgraph as d\ntry: d.DormouseSaver(None)\nexcept ImportError as e: print(e)\ntry: d.DormouseStore(None)\nexcept ImportError as e: print(e)"
        done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True)
        self.assertEqual(done.stdout.count("needs LangGraph: install langgraph"), 2, done.stderr)
