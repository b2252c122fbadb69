import asyncio
import collections
import concurrent.futures
import os
import random
import time
import unittest
from unittest import mock

from dormouse import Client
from dormouse_langgraph import DormouseStore

from .framework import GetOp, MatchCondition, PutOp


def keys(items):
    return [item.key for item in items]


@unittest.skipUnless(os.environ.get("DORMOUSE_URLS"), "needs a cluster: make sdk-python")
class Store(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(os.environ["DORMOUSE_FOLLOWER"], token=os.environ.get("DORMOUSE_TOKEN"), scope=f"py-{time.time_ns():x}")
        self.addCleanup(self.client.close)
        self.store = DormouseStore(self.client)

    def test_an_item_is_read_as_it_was_put_changed_and_deleted(self):
        self.assertIsNone(self.store.get(("a",), "k"))
        self.store.put(("a", "b/c:%"), "k/é:", {"n": [1, None], "text": "😀"})
        item = self.store.get(("a", "b/c:%"), "k/é:")
        self.assertEqual((item.namespace, item.key, item.value), (("a", "b/c:%"), "k/é:", {"n": [1, None], "text": "😀"}))
        self.store.put(("a", "b/c:%"), "k/é:", {"n": 2})
        changed = self.store.get(("a", "b/c:%"), "k/é:")
        self.assertEqual((changed.value, changed.created_at), ({"n": 2}, item.created_at))
        self.store.delete(("a", "b/c:%"), "k/é:")
        self.store.delete(("a", "b/c:%"), "k/é:")
        self.assertIsNone(self.store.get(("a", "b/c:%"), "k/é:"))

    def test_items_that_exceed_one_answer_together_are_read_in_several(self):
        for at in range(0, 90, 10):
            self.store.batch([PutOp(("large",), f"{each:02}", {"text": "x" * 400_000}) for each in range(at, at + 10)])
        self.assertEqual(keys(self.store.search(("large",), limit=3)), ["00", "01", "02"])
        self.assertEqual(len(self.store.search(("large",), limit=90)), 90)
        found = self.store.batch([GetOp(("large",), f"{each:02}") for each in range(90)])
        self.assertEqual(keys(found), [f"{each:02}" for each in range(90)])

    def test_a_batch_reads_what_was_before_and_applies_the_last_put_of_a_key(self):
        self.store.put(("a",), "k", {"n": 0})
        results = self.store.batch([PutOp(("a",), "k", {"n": 1}), GetOp(("a",), "k"), PutOp(("a",), "k", {"n": 2}), GetOp(("a",), "none")])
        self.assertEqual((results[0], results[1].value, results[2], results[3]), (None, {"n": 0}, None, None))
        self.assertEqual(self.store.get(("a",), "k").value, {"n": 2})
        self.assertEqual(asyncio.run(self.store.aget(("a",), "k")).value, {"n": 2})
        with self.assertRaisesRegex(ValueError, "at most 500"):
            self.store.batch([PutOp(("a",), str(n), {}) for n in range(501)])

    def test_searches_select_by_namespace_and_filter(self):
        self.store.batch([PutOp(("users", str(n % 2)), f"k{n}", {"n": n, "even": n % 2 == 0}) for n in range(6)] + [PutOp(("user",), "x", {"n": 9})])
        self.assertEqual(keys(self.store.search(("users",))), ["k0", "k2", "k4", "k1", "k3", "k5"])
        self.assertEqual(keys(self.store.search(("users", "1"), limit=1, offset=1)), ["k3"])
        self.assertEqual(len(self.store.search(())), 7)
        self.assertEqual(keys(self.store.search(("users",), filter={"even": True, "n": {"$gte": 2}})), ["k2", "k4"])
        self.assertEqual(keys(self.store.search(("users",), filter={"n": {"$gt": 1, "$lt": 4, "$ne": 2}})), ["k3"])
        self.assertEqual(self.store.search(("users",), filter={"missing": {"$gt": 1}}), [])
        with self.assertRaisesRegex(ValueError, "no operator"):
            self.store.search(("users",), filter={"n": {"$in": [1]}})

    def test_namespaces_are_listed(self):
        for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z",)):
            self.store.put(namespace, "k", {})
        self.assertEqual(self.store.list_namespaces(), [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z",)])
        self.assertEqual(self.store.list_namespaces(max_depth=2, limit=2, offset=1), [("a", "x"), ("z",)])
        self.assertEqual(self.store.list_namespaces(match_conditions=(MatchCondition("prefix", ("a", "*", "c")),)), [("a", "b", "c")])
        self.assertEqual(self.store.list_namespaces(match_conditions=(MatchCondition("suffix", ("d",)), MatchCondition("prefix", ("a",)))), [("a", "b", "d")])

    def test_a_query_searches_for_words_in_the_indexed_fields(self):
        store = DormouseStore(self.client, index={"fields": ["text", "notes[*].text"]})
        store.put(("facts", "ada"), "tea", {"text": "Ada likes green tea", "other": "rain"})
        store.put(("facts", "bob"), "rain", {"notes": [{"text": "Bob likes"}, {"text": "the rain"}]})
        store.put(("facts", "bob"), "hidden", {"text": "green rain"}, index=False)
        store.put(("others",), "tea", {"text": "tea"})
        found = store.search(("facts",), query="tea")
        self.assertEqual(keys(found), ["tea"])
        self.assertGreater(found[0].score, 0)
        self.assertEqual(keys(store.search(("facts",), query="rain")), ["rain"])
        self.assertEqual(store.search(("facts", "ada"), query="rain"), [])
        self.assertEqual(len(store.search((), query="tea")), 2)
        store.put(("facts", "ada"), "tea", {"text": "Ada likes coffee"})
        self.assertEqual(store.search(("facts",), query="tea"), [])
        store.delete(("facts", "bob"), "rain")
        self.assertEqual(store.search(("facts",), query="rain"), [])

    def test_the_first_8_kib_of_a_query_count_and_a_blank_one_is_none(self):
        store = DormouseStore(self.client, index={})
        store.batch([PutOp(("q",), "a", {"text": "cake"}), PutOp(("q",), "b", {"text": "tea"})])
        for query in ("tea " + "x" * 8995 + " cake", "tea " + "é" * 4498, " " * 9000 + "tea"):
            self.assertEqual(keys(store.search(("q",), query=query)), ["b"])
        for blank in ("", "  ", "\u0085\u00a0"):
            self.assertEqual(keys(store.search(("q",), query=blank)), ["a", "b"])

    def test_the_best_text_of_an_item_counts(self):
        def embed(texts):
            return [[float(text.count("x")), float(text.count("y"))] for text in texts]

        store = DormouseStore(self.client, index={"fields": ["{a,b}", "more.*"], "embed": embed})
        store.batch([PutOp(("v",), "two", {"a": "xx", "b": "y"}), PutOp(("v",), "one", {"more": {"c": "xy"}})])
        found = store.search(("v",), query="x")
        self.assertEqual([(item.key, round(item.score, 4)) for item in found], [("two", 1.0), ("one", 0.7071)])
        store.put(("v",), "two", {"a": "y"})  # the other text is no longer found
        self.assertEqual([(item.key, round(item.score, 4)) for item in store.search(("v",), query="x")], [("one", 0.7071), ("two", 0.0)])
        store.delete(("v",), "two")
        self.assertEqual(keys(store.search(("v",), query="y")), ["one"])
        with self.assertRaisesRegex(ValueError, "at most 100"):
            store.put(("v",), "many", {"more": ["x"] * 101})

    def test_many_items_with_long_embeddings_are_put_together(self):
        draw = random.Random(1)
        vectors = collections.defaultdict(lambda: [draw.random() - 0.5 for _ in range(1536)])
        store = DormouseStore(self.client, index={"fields": ["text[*]"], "embed": lambda texts: [vectors[text] for text in texts]})
        store.batch([PutOp(("long",), f"k{n}", {"text": [f"text {n}"]}) for n in range(500)])
        self.assertEqual(len(store.search(("long",), limit=1000)), 500)
        for n in (0, 374, 499):
            [first] = store.search(("long",), query=f"text {n}", limit=1)
            self.assertEqual((first.key, round(first.score, 6)), (f"k{n}", 1.0))
        with self.assertRaisesRegex(ValueError, "at most 12000000 are stored together"):
            store.batch([PutOp(("long",), f"k{n}", {"text": ["one", "two"]}) for n in range(341)])

    def test_a_text_that_is_too_large_to_be_indexed_is_refused_before_anything_is_stored(self):
        store = DormouseStore(self.client, index={"fields": ["text"]})
        with self.assertRaisesRegex(ValueError, "'big' has a text of 300000 bytes to index: .* at most 262144 are allowed"):
            store.batch([PutOp(("big",), "small", {"text": "tea"}), PutOp(("big",), "big", {"text": "x" * 300_000})])
        others = len('item{}{"key":""}' + store._key(("big",), "edge")) + 2 * 64
        with self.assertRaisesRegex(ValueError, "at most 262144"):
            store.put(("big",), "edge", {"text": "x" * (262144 - others + 1)})
        self.assertEqual(store.search(("big",)), [])
        store.batch([PutOp(("big",), "edge", {"text": "tea " + "x" * (262144 - others - 4)}), PutOp(("big",), "plain", {"text": "x" * 300_000}, index=False)])
        self.assertEqual(keys(store.search(("big",), query="tea")), ["edge"])
        store = DormouseStore(self.client, index={"embed": lambda texts: [[1] * 4096 for _ in texts]})
        with self.assertRaisesRegex(ValueError, "at most 262144"):
            store.put(("big",), "k", {"text": "x" * 250_000})

    def test_an_embedding_of_zeros_finds_nothing(self):
        store = DormouseStore(self.client, index={"fields": ["text", "more"], "embed": lambda texts: [[text.count("tea"), 0] for text in texts]})
        store.batch([PutOp(("z",), text, {"text": text, "more": "rain"}) for text in ("tea", "cake")])
        self.assertEqual([(item.key, item.score) for item in store.search(("z",), query="tea")], [("tea", 1.0)])
        self.assertEqual(store.search(("z",), query="cake"), [])
        self.assertEqual(store.get(("z",), "cake").value, {"text": "cake", "more": "rain"})
        store.put(("z",), "tea", {"text": "cake"})
        self.assertEqual(store.search(("z",), query="tea"), [])

    def test_a_query_has_an_embedding_of_its_own(self):
        class Apart:
            def embed_documents(self, texts):
                return [[text.count("tea"), text.count("cake")] for text in texts]

            def embed_query(self, text):
                return [text.count("chai"), 0]

        store = DormouseStore(self.client, index={"fields": ["text"], "embed": Apart()})
        store.batch([PutOp(("own",), text, {"text": text}) for text in ("tea", "cake")])
        self.assertEqual([item.key for item in store.search(("own",), query="chai", limit=1)], ["tea"])

    def test_an_item_of_an_earlier_version_loses_its_text(self):
        store = DormouseStore(self.client, index={})
        key = store._key(("old",), "k")
        memory = {"op": "write_memory", "agent_id": store._agent, "id": store._memory(key), "kind": "item", "class": "semantic", "content": "tea"}
        tags = [store._memory(store._key(namespace, "")) for namespace in ((), ("old",))]
        self.client.commit([{"op": "put_value", "key": key, "bytes": "e30="}, {**memory, "data": {"key": key}, "tags": tags}])
        self.assertEqual(keys(store.search(("old",), query="tea")), ["k"])
        store.put(("old",), "k", {}, index=False)
        self.assertEqual(store.search(("old",), query="tea"), [])

    def test_one_of_concurrent_changes_of_an_item_is_whole_with_its_index(self):
        store = DormouseStore(self.client, index={"fields": ["words[*]"]})
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: store.put(("c",), "item", {"n": n, "words": [f"word{n}x{at}" for at in range(8 - n)]}), range(8)))
        last = store.get(("c",), "item").value["n"]
        for n in range(8):
            for at in range(8 - n):
                self.assertEqual(len(store.search(("c",), query=f"word{n}x{at}")), int(n == last))

    def test_a_query_reads_the_items_that_it_returns(self):
        store = DormouseStore(self.client, index={"fields": ["text"]})
        store.batch([PutOp(("q",), f"k{n:03}", {"text": "tea " * (n + 1), "n": n}) for n in range(150)])
        read: list[str] = []
        real = self.client.read

        def counted(reads):
            read.extend(each["key"] for each in reads if each["read"] == "get_value")
            return real(reads)

        with mock.patch.object(self.client, "read", counted):
            for how, found, most in [({}, 10, 10), ({"limit": 20, "offset": 5}, 20, 25), ({"filter": {"n": {"$gte": 0}}}, 10, 100), ({"limit": 1000}, 150, 150)]:
                with self.subTest(how=how):
                    read.clear()
                    self.assertEqual((len(store.search(("q",), query="tea", **how)), len(read)), (found, most))

    def test_a_query_searches_by_vectors(self):
        def embed(texts):
            return [[float(text.count("x")), float(text.count("y")), 1.0] for text in texts]

        store = DormouseStore(self.client, index={"fields": ["text"], "embed": embed})
        for key, text in (("x", "xxx"), ("y", "yyy")):
            store.put(("v",), key, {"text": text})
        self.assertEqual(keys(store.search(("v",), query="yy")), ["y", "x"])
        self.assertEqual(keys(store.search(("v",), query="xx", limit=1, filter={"text": "xxx"})), ["x"])
