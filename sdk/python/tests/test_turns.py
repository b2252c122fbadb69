import json
import time
import unittest
from typing import Any
from unittest import mock

from dormouse import Fence, RefusedError
from dormouse.http import Response

from .kit import Got, answer, problem, scripted


def turn(**lease: int) -> dict[str, Any]:
    return {"lease": {"lease_id": "l", "owner_id": "w", "epoch": 4, **lease}}


class Turns(unittest.TestCase):
    def test_a_turn_is_kept_its_lease_is_renewed_at_once_with_the_ttl_of_its_claim(self) -> None:
        claimed = turn(acquired_at=1000, expires_at=6000)
        for turned, given, ttl in ((claimed, None, 5000), (turn(), None, 30_000), (claimed, 7000, 7000)):
            client, got = scripted(answer({}))
            hold = client.sessions.keep("s", turned, given)
            hold.release()
            self.assertFalse(hold.lost.is_set())
            self.assertEqual(hold.fence, Fence("session:s", 4))
            self.assertEqual([each.path for each in got], ["/v1/sessions/s/renew"])
            self.assertEqual(json.loads(got[0].body or b""), {"lease_id": "l", "owner_id": "w", "ttl_ms": ttl})
            self.assertEqual(got[0].headers["Dormouse-Timeout-Ms"], str(ttl // 6))  # a silent node leaves time for others

    def test_a_turn_that_is_no_longer_held_or_queued_is_not_kept(self) -> None:
        client, _ = scripted(problem("fenced", 409))
        with self.assertRaisesRegex(RefusedError, "fenced"):
            client.sessions.keep("s", turn())
        with self.assertRaisesRegex(RefusedError, "queued"):
            client.sessions.keep("s", {})

    def test_a_turn_is_held_since_its_renewal_was_sent(self) -> None:
        now, later = time.monotonic, 0

        def late(got: Got) -> Response:
            nonlocal later
            later = 60
            return answer({})(got)

        client, _ = scripted(late)
        with mock.patch("time.monotonic", lambda: now() + later):
            hold = client.sessions.keep("s", turn(acquired_at=1000, expires_at=61_000))
            self.assertTrue(hold.lost.wait(10))
        self.assertRegex(str(hold.reason), "in time")
