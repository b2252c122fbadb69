import threading
import unittest

from dormouse.http import Response

from .kit import Got, Reply, answer, problem, scripted

CLAIM = answer({"name": "c", "holder": "w", "epoch": 3})


def page(status: int) -> Reply:
    """The answer of a proxy."""
    return lambda got: Response(status, {"content-type": "text/html"}, b"<html>")


PASSING = (problem("unauthenticated", 401), problem("forbidden", 403), problem("quota_exceeded", 403), page(403), page(407), problem("internal", 500))


def paths(got: list[Got]) -> list[str]:
    return [each.path for each in got]


class Renewals(unittest.TestCase):
    def test_a_renewal_that_says_nothing_of_the_claim_is_sent_again_to_the_next_node(self) -> None:
        for refused in PASSING:
            renewed = threading.Event()

            def renew(got: Got) -> Response:
                renewed.set()
                return CLAIM(got)

            client, got = scripted(CLAIM, refused, refused, renew)
            with client.claims.hold("c", "w", ttl_ms=1500) as hold:
                self.assertTrue(renewed.wait(10))
                hold.check()
            self.assertEqual(paths(got), ["/v1/claims/c", *["/v1/claims/c/renew"] * 3, "/v1/claims/c/release"])
            self.assertEqual({each.host for each in got[1:4]}, {"a", "b", "c"})

    def test_a_claim_whose_renewals_are_all_refused_so_is_lost_at_its_ttl_and_not_released(self) -> None:
        client, got = scripted(CLAIM, problem("forbidden", 403))
        with client.claims.hold("c", "w", ttl_ms=60) as hold:
            self.assertTrue(hold.lost.wait(10))
        self.assertRegex(str(hold.reason), "in time")
        self.assertNotIn("/v1/claims/c/release", paths(got))

    def test_a_claim_is_released_after_its_loss_unless_it_was_fenced(self) -> None:
        for code, released in (("not_found", 1), ("invalid", 1), ("fenced", 0)):
            client, got = scripted(CLAIM, problem(code, 409))
            with client.claims.hold("c", "w", ttl_ms=1500) as hold:
                self.assertTrue(hold.lost.wait(10))
            self.assertRegex(str(hold.reason), code)
            self.assertEqual(paths(got).count("/v1/claims/c/release"), released, code)
