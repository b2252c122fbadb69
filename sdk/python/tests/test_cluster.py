"""Tests against a cluster that internal/withcluster started; without one they are skipped."""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import unittest
import urllib.request

from dormouse import Changed, Client, RefusedError

from .cases import Json, Run, cases

ENDPOINTS = os.environ.get("DORMOUSE_URLS", "").split(",")
STARTED = f"{time.time_ns():x}"


def kill() -> None:
    with urllib.request.urlopen(f"{os.environ['DORMOUSE_CONTROL']}/leader/kill", data=b"") as answer:
        assert answer.status == 200


@unittest.skipUnless(os.environ.get("DORMOUSE_URLS"), "needs a cluster: make sdk-python")
class Cluster(unittest.TestCase):
    def connect(self, endpoints: str | list[str]) -> Client:
        client = Client(endpoints, token=os.environ.get("DORMOUSE_TOKEN"), timeout_ms=60_000)
        self.addCleanup(client.close)
        return client

    def all_cases(self, what: str, client: Client) -> list[str]:
        """Runs all cases at once, and returns what failed."""
        failed = list[str]()

        def one(number: int, name: str, steps: list[Json]) -> None:
            try:
                Run(client, f"py-{STARTED}-{what}-{number}").run(steps)
            except Exception as error:
                failed.append(f"{what}: {name}: {error!r} {getattr(error, '__notes__', '')}")

        with concurrent.futures.ThreadPoolExecutor(48) as pool:
            listed = list(cases())
            self.assertGreater(len(listed), 20)
            for number, (name, steps) in enumerate(listed):
                pool.submit(one, number, name, steps)
        return failed

    def test_1_the_cases_hold_through_a_follower(self):
        self.assertEqual(self.all_cases("follower", self.connect(os.environ["DORMOUSE_FOLLOWER"])), [])

    def test_2_the_cases_hold_and_watches_and_claims_go_on_while_the_leader_is_killed(self):
        client = self.connect(ENDPOINTS)

        def later(round: int) -> list[str]:
            time.sleep(round * 0.15)
            return self.all_cases(f"killed-{round}", client)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            jobs: list[concurrent.futures.Future[list[str] | None]] = [pool.submit(self.watches_across_a_kill, client), pool.submit(self.holds_across_a_kill, client)]
            jobs += [pool.submit(later, round) for round in range(4)]
            self.assertEqual([failed for job in jobs for failed in job.result() or []], [])

    def watches_across_a_kill(self, client: Client) -> None:
        """Entries are appended while the leader is killed: a watch and the feed of changes have each once."""
        scoped, entries = client.with_options(scope=f"py-{STARTED}-watch"), 60
        index = scoped.call("POST", "/v1/threads/{id}/entries", params={"id": "t"}, body={"entries": [{"id": "e0"}]}).index
        watched, changed = list[Json](), list[Changed]()
        watch, feed = scoped.threads.watch("t"), scoped.changes(from_index=index, prefix="threads/t")

        def collect(source, into) -> None:
            for item in source:
                into.append(item)
                if len(into) == entries:
                    return

        collectors = [threading.Thread(target=collect, args=each) for each in ((watch, watched), (feed, changed))]
        for collector in collectors:
            collector.start()
        for n in range(1, entries):
            if n == 15:
                kill()
            scoped.threads.append("t", [{"id": f"e{n}"}], expected_rev=n)
        for collector in collectors:
            collector.join(20)
        watch.close()
        feed.close()
        self.assertEqual([(entry["seq"], entry["id"]) for entry in watched], [(n, f"e{n}") for n in range(entries)])
        self.assertEqual([each.change["rev"] for each in changed], list(range(1, entries + 1)))

    def holds_across_a_kill(self, client: Client) -> None:
        """A claim is held across the kill of the leader, and passes on when it is released."""
        scoped = client.with_options(scope=f"py-{STARTED}-hold")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            with scoped.claims.hold("c", "a", ttl_ms=12_000) as hold:
                waiting = pool.submit(scoped.claims.hold, "c", "b", ttl_ms=12_000, wait=True)
                time.sleep(13)
                hold.check()
                scoped.fenced(hold.fence).checkpoints.put("k", {"state": {}})
            with waiting.result(30) as second:
                self.assertGreater(second.fence.epoch, hold.fence.epoch)
                with self.assertRaises(RefusedError) as caught:
                    scoped.fenced(hold.fence).checkpoints.put("k", {"state": {}})
                self.assertEqual(caught.exception.code, "fenced")

    def test_bytes_of_entries_and_of_values_are_kept_as_they_are(self):
        client = self.connect(ENDPOINTS).with_options(scope=f"py-{STARTED}-bytes")
        data = bytes(range(256)) * 4096
        client.threads.append_bytes("t", data, content_type="image/png", entry="e0", kind="image", expected_rev=0)
        self.assertEqual(client.threads.entry_bytes("t", "e0"), data)
        self.assertEqual(client.threads.entry("t", "e0")["content_type"], "image/png")
        client.values.put("k", data)
        value = client.values.get("k")
        self.assertEqual((value.data, value.content_type, value.revision), (data, "application/octet-stream", 1))
        client.values.put("json", b'{"a":1}', content_type="application/json")
        self.assertEqual(client.values.get("json").data, b'{"a":1}')

    def test_lone_surrogates_arrive_as_the_replacement_character(self):
        client = self.connect(ENDPOINTS).with_options(scope=f"py-{STARTED}-text")
        client.checkpoints.put("k", {"state": {"text": "half \ud83d, whole \ud83d\ude00"}})
        self.assertEqual(client.checkpoints.get("k")["state"], {"text": "half \ufffd, whole 😀"})

    def test_the_example_of_the_readme_runs(self):
        readme = pathlib.Path(__file__).parents[1] / "README.md"
        example = re.search(r"```python\n(.*?)```", readme.read_text(), re.S)
        assert example is not None
        program = example[1].replace('"http://127.0.0.1:7600", "http://127.0.0.1:7610", "http://127.0.0.1:7620"', ", ".join(repr(each) for each in ENDPOINTS))
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 {'text': 'Hello'}", done.stdout)


class Package(unittest.TestCase):
    def test_the_tables_of_calls_are_those_of_the_openapi_document(self):
        script = pathlib.Path(__file__).parents[1] / "scripts/generate.py"
        done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
