"""TLS, against nodes that internal/withcluster -tls started; without them the tests are skipped."""

from __future__ import annotations

import os
import ssl
import time
import unittest

from dormouse import Client, RefusedError
from dormouse.http import StandardHttp

ENDPOINTS = os.environ.get("DORMOUSE_URLS", "").split(",")


@unittest.skipUnless(ENDPOINTS[0].startswith("https:"), "needs nodes with TLS: make sdk-python")
class Tls(unittest.TestCase):
    def connect(self, context: ssl.SSLContext, token: str | None = None, timeout_ms: int = 30_000) -> Client:
        client = Client(ENDPOINTS, token=token or os.environ["DORMOUSE_TOKEN"], http=StandardHttp(context), timeout_ms=timeout_ms)
        self.addCleanup(client.close)
        return client

    def test_calls_and_watches_go_over_tls(self) -> None:
        client = self.connect(ssl.create_default_context(cafile=os.environ["DORMOUSE_CA"]))
        name = f"tls-{time.time_ns():x}"
        client.values.put(name, b"kept")
        self.assertEqual(client.values.get(name).data, b"kept")
        client.threads.append(name, [{"id": "a"}])
        watch = client.threads.watch(name)
        self.addCleanup(watch.close)
        self.assertEqual(next(iter(watch))["id"], "a")

    def test_a_node_of_another_authority_gets_no_call(self) -> None:
        with self.assertRaises(RefusedError) as raised:
            self.connect(ssl.create_default_context(), timeout_ms=500).values.get("a")
        self.assertEqual(raised.exception.code, "unavailable")
        self.assertIn("CERTIFICATE_VERIFY_FAILED", repr(raised.exception.__cause__))

    def test_a_wrong_token_is_refused(self) -> None:
        with self.assertRaises(RefusedError) as raised:
            self.connect(ssl.create_default_context(cafile=os.environ["DORMOUSE_CA"]), token="wrong").values.get("a")
        self.assertEqual(raised.exception.code, "unauthenticated")
