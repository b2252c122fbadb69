import threading
import time
import unittest

from dormouse import Done, Fence, LostError, Refused, RefusedError, Unknown, UnknownError, settle
from dormouse.http import Response
from dormouse.text import encode, well_formed

from .kit import Got, answer, broken, lost, problem, scripted, stream

STAMP = answer({"key": "k", "revision": 1, "created_at": 1, "updated_at": 1}, 201)


class Outcomes(unittest.TestCase):
    def test_a_write_is_sent_again_under_one_key_at_another_node(self):
        client, got = scripted(lost, problem("unknown", 504), problem("unavailable", 503), STAMP)
        outcome = settle(client.checkpoints.put, "k", {"state": {}})
        assert isinstance(outcome, Done)
        self.assertEqual(outcome.value["revision"], 1)
        self.assertEqual(len({each.headers["Idempotency-Key"] for each in got}), 1)
        self.assertEqual({each.host for each in got}, {"a", "b", "c"})

    def test_a_write_with_an_unknown_outcome_names_its_key(self):
        client, got = scripted(lost, timeout_ms=300)
        outcome = settle(client.checkpoints.put, "k", {"state": {}})
        assert isinstance(outcome, Unknown)
        self.assertEqual(outcome.error.idempotency_key, got[0].headers["Idempotency-Key"])

    def test_a_write_that_was_only_refused_in_passing_is_refused(self):
        client, _ = scripted(problem("unavailable", 503), timeout_ms=300)
        outcome = settle(client.checkpoints.put, "k", {"state": {}})
        assert isinstance(outcome, Refused)
        self.assertEqual(outcome.error.code, "unavailable")

    def test_a_refusal_that_says_nothing_of_an_earlier_attempt_is_unknown(self):
        for code in ("forbidden", "unauthenticated", "read_only", "quota_exceeded", "internal", "corrupt"):
            client, _ = scripted(lost, problem(code, 403))
            self.assertIsInstance(settle(client.checkpoints.put, "k", {"state": {}}), Unknown, code)

    def test_a_write_is_unknown_after_an_error_that_does_not_say_whether_it_was_applied(self):
        for code in ("internal", "request_expired"):
            for before in ((), (lost,), (problem("unavailable", 503),)):
                client, got = scripted(*before, problem(code, 500))
                outcome = settle(client.checkpoints.put, "k", {"state": {}})
                assert isinstance(outcome, Unknown), code
                self.assertEqual(outcome.error.idempotency_key, got[0].headers["Idempotency-Key"])
            client, _ = scripted(problem(code, 500))
            outcome = settle(client.checkpoints.get, "k")
            assert isinstance(outcome, Refused)
            self.assertEqual(outcome.error.code, code)

    def test_a_refusal_of_the_state_machine_is_final(self):
        client, got = scripted(lost, problem("revision_mismatch", 409, revision=7))
        with self.assertRaises(RefusedError) as caught:
            client.checkpoints.put("k", {"state": {}, "if_revision": 1})
        self.assertEqual((caught.exception.code, caught.exception.problem["revision"]), ("revision_mismatch", 7))
        self.assertEqual(len(got), 2)

    def test_a_refusal_of_a_call_on_an_instance_or_a_pod_says_nothing_of_an_earlier_attempt(self) -> None:
        instance, pod = "/v1/managers/{manager}/instances/{key}", "/v1/pods/{manager}/{key}"
        params = {"manager": "m", "key": "k", "timer": "t"}
        for method, path in (("POST", instance + "/signals"), ("PATCH", instance + "/cron"), ("POST", pod + "/mutate"), ("POST", pod + "/fork")):
            for refused in (problem("not_found", 404), problem("thaw_failed", 409)):
                client, got = scripted(lost, refused)
                outcome = settle(client.call, method, path, params=params, body={})
                assert isinstance(outcome, Unknown), path
                self.assertEqual(outcome.error.idempotency_key, got[1].headers["Idempotency-Key"])
                client, _ = scripted(refused)
                self.assertIsInstance(settle(client.call, method, path, params=params, body={}), Refused, path)
        client, _ = scripted(lost, problem("fenced", 409))
        self.assertIsInstance(settle(client.call, "DELETE", instance + "/timers/{timer}", params=params), Refused)

    def test_a_call_without_a_key_is_not_sent_again_after_a_lost_answer(self):
        client, got = scripted(lost)
        with self.assertRaises(UnknownError):
            client.call("POST", "/v1/managers/{manager}/instances/{key}/touch", params={"manager": "m", "key": "k"}, body={})
        self.assertEqual(len(got), 1)

    def test_a_token_without_a_hash_is_created_without_a_key_and_once(self) -> None:
        body: dict[str, object] = {"principal": "ci", "grants": []}
        client, got = scripted(answer({"id": "tok_1", "secret": "s"}, 201))
        client.call("POST", "/v1/tokens", body=body)
        client.call("POST", "/v1/tokens", body=body, idempotency_key="mine")
        self.assertEqual([each.headers.get("Idempotency-Key") for each in got], [None, "mine"])
        client, got = scripted(lost)
        outcome = settle(client.call, "POST", "/v1/tokens", body=body)
        assert isinstance(outcome, Unknown)
        self.assertEqual((outcome.error.idempotency_key, len(got)), (None, 1))
        client, got = scripted(lost, answer({"id": "tok_1"}, 201))
        client.call("POST", "/v1/tokens", body={**body, "hash": "ab"})
        self.assertEqual((len(got), len({each.headers["Idempotency-Key"] for each in got})), (2, 1))

    def test_a_read_is_never_unknown(self):
        for reply in (lost, problem("unknown", 504)):
            client, _ = scripted(reply, timeout_ms=300)
            outcome = settle(client.checkpoints.get, "k")
            assert isinstance(outcome, Refused)
            self.assertEqual(outcome.error.code, "unavailable")

    def test_a_broken_answer_is_like_a_lost_one(self):
        client, got = scripted(broken, STAMP)
        self.assertEqual(client.checkpoints.put("k", {"state": {}})["revision"], 1)
        self.assertEqual(len({each.headers["Idempotency-Key"] for each in got}), 1)
        client, _ = scripted(broken, timeout_ms=300)
        self.assertIsInstance(settle(client.checkpoints.put, "k", {"state": {}}), Unknown)
        outcome = settle(client.checkpoints.get, "k")
        assert isinstance(outcome, Refused)
        self.assertEqual(outcome.error.code, "internal")

    def test_a_value_that_is_no_json_is_its_bytes(self):
        client, _ = scripted(broken)
        self.assertEqual(client.values.get("k").data, b'{"key":')

    def test_a_cancelled_call_is_not_tried_again(self):
        client, got = scripted(lost, timeout_ms=60_000)
        cancelled = threading.Event()
        cancelled.set()
        with self.assertRaises(UnknownError):
            client.checkpoints.put("k", {"state": {}}, cancelled=cancelled)
        self.assertEqual(len(got), 1)

    def test_an_overloaded_node_is_asked_again_after_the_time_that_it_names(self):
        client, _ = scripted(problem("overloaded", 429, retry_after_ms=60), STAMP)
        began = time.monotonic()
        client.checkpoints.put("k", {"state": {}})
        self.assertGreaterEqual(time.monotonic() - began, 0.06)

    def test_a_node_that_names_no_time_to_wait_is_not_asked_again_without_a_pause(self) -> None:
        client, got = scripted(problem("overloaded", 429, retry_after_ms=0), timeout_ms=300)
        outcome = settle(client.checkpoints.put, "k", {"state": {}})
        assert isinstance(outcome, Refused)
        self.assertEqual(outcome.error.code, "overloaded")
        self.assertLess(len(got), 10)

    def test_an_answer_without_a_problem_document_has_a_code_all_the_same(self):
        client, _ = scripted(lambda got: Response(502, {}, b"<html>"), timeout_ms=300)
        self.assertIsInstance(settle(client.checkpoints.put, "k", {"state": {}}), Unknown)

    def test_a_proxy_does_not_say_that_an_earlier_attempt_was_not_applied(self) -> None:
        for status in (404, 500):
            client, got = scripted(lost, lambda got, status=status: Response(status, {}, b"<html>"), timeout_ms=300)
            self.assertIsInstance(settle(client.checkpoints.put, "k", {"state": {}}), Unknown, status)
        for status in (500, 503):
            client, _ = scripted(lambda got, status=status: Response(status, {}, b"<html>"))
            outcome = settle(client.call, "POST", "/v1/managers/{manager}/instances/{key}/touch", params={"manager": "m", "key": "k"}, body={})
            self.assertIsInstance(outcome, Unknown, status)
        client, _ = scripted(lambda got: Response(404, {}, b"<html>"))
        self.assertIsInstance(settle(client.checkpoints.put, "k", {"state": {}}), Refused)

    def test_a_page_of_a_proxy_does_not_say_that_a_write_was_applied(self) -> None:
        def page(got: Got) -> Response:
            return Response(200, {"content-type": "text/html"}, b"<html>")

        client, got = scripted(page, answer({"revision": 1}), lambda got: Response(204, {}, b""))
        self.assertEqual(client.checkpoints.put("k", {"state": {}})["revision"], 1)
        client.checkpoints.delete("k")
        self.assertEqual(len(got), 3)
        client, _ = scripted(page, timeout_ms=300)
        with self.assertRaises(UnknownError):
            client.checkpoints.delete("k")

    def test_a_proxy_that_says_503_may_have_passed_the_write_on(self) -> None:
        client, _ = scripted(lambda got: Response(503, {}, b"<html>"), timeout_ms=300)
        self.assertIsInstance(settle(client.checkpoints.put, "k", {"state": {}}), Unknown)
        outcome = settle(client.checkpoints.get, "k")
        assert isinstance(outcome, Refused)
        self.assertEqual(outcome.error.code, "unavailable")

    def test_endpoints_are_needed(self):
        from dormouse import Client

        with self.assertRaisesRegex(RefusedError, "at least one node"):
            Client([])


class Requests(unittest.TestCase):
    def test_an_endpoint_that_is_no_url_is_refused(self) -> None:
        from dormouse import Client

        for endpoint in ("127.0.0.1:7600", "localhost:7600", "ftp://a", "http://", "http://a:port", "http://a b", ""):
            with self.assertRaises(RefusedError, msg=endpoint) as raised:
                Client(endpoint)
            self.assertEqual(raised.exception.code, "invalid")

    def test_the_token_of_a_file_ends_with_a_line_break(self) -> None:
        client, got = scripted(STAMP, token="secret\n")
        client.checkpoints.put("k", {"state": {}})
        self.assertEqual(got[0].headers["Authorization"], "Bearer secret")

    def test_what_no_header_can_carry_is_refused_and_not_shown(self) -> None:
        for wrong in ({"token": "secret\nline"}, {"token": lambda: "secret\u20ac"}, {"scope": "secret\nline"}):
            client, got = scripted(STAMP, **wrong)
            outcome = settle(client.checkpoints.put, "k", {"state": {}})
            assert isinstance(outcome, Refused), wrong
            self.assertEqual(outcome.error.code, "invalid")
            self.assertNotIn("secret", str(outcome.error))
            self.assertEqual(got, [])

    def test_a_token_that_cannot_be_read_is_a_refusal_or_leaves_the_outcome_unknown(self) -> None:
        tokens = iter(["secret"])

        def token() -> str:
            for each in tokens:
                return each
            raise FileNotFoundError("no token")

        client, _ = scripted(lost, STAMP, token=token)
        self.assertIsInstance(settle(client.checkpoints.put, "k", {"state": {}}), Unknown)
        outcome = settle(client.checkpoints.put, "k", {"state": {}})
        assert isinstance(outcome, Refused)
        self.assertEqual((outcome.error.code, type(outcome.error.__cause__)), ("unauthenticated", FileNotFoundError))

    def test_an_empty_scope_of_a_call_is_not_the_scope_of_the_client(self):
        client, got = scripted(answer({}), scope="acme")
        for scope in (None, "", "other"):
            client.checkpoints.get("k", scope=scope)
        # A node refuses an empty scope.
        self.assertEqual([each.headers["Dormouse-Scope"] for each in got], ["acme", "", "other"])

    def test_ids_are_percent_encoded_and_headers_are_sent(self):
        cluster = answer({"key": "k", "revision": 1}, 201, dormouse_cluster="c1")
        client, got = scripted(cluster, token=lambda: "secret", scope="ä")
        fenced = client.fenced(Fence("session:s1", 7))
        fenced.checkpoints.put("a/b ü", {"state": {}})
        fenced.checkpoints.put("a", {"state": {}}, fence=Fence("é", 8))
        self.assertEqual(got[0].path, "/v1/checkpoints/a%2Fb%20%C3%BC")
        self.assertEqual(got[0].headers["Dormouse-Fence"], 'claim="session:s1";epoch=7')
        self.assertEqual(got[1].headers["Dormouse-Fence"], 'claim=%"%C3%A9";epoch=8')
        self.assertEqual(got[0].headers["Authorization"], "Bearer secret")
        self.assertEqual(got[0].headers["Dormouse-Scope"], "Ã¤")
        self.assertNotIn("Dormouse-Cluster", got[0].headers)
        self.assertEqual(got[1].headers["Dormouse-Cluster"], "c1")

    def test_reads_have_no_fence_and_no_key(self):
        client, got = scripted(answer({"items": [], "next": None}))
        client.fenced(Fence("c", 1)).checkpoints.list(prefix="a", limit=2, stale=True, min_index=3)
        self.assertNotIn("Dormouse-Fence", got[0].headers)
        self.assertNotIn("Idempotency-Key", got[0].headers)
        self.assertEqual(got[0].query, {"prefix": ["a"], "limit": ["2"], "stale": ["true"], "min_index": ["3"]})

    def test_an_empty_id_and_one_of_dots_are_refused(self):
        client, got = scripted(STAMP)
        with self.assertRaisesRegex(RefusedError, "key is missing"):
            client.checkpoints.get("")
        for dots in (".", ".."):
            with self.assertRaisesRegex(RefusedError, "choose another id"):
                client.checkpoints.get(dots)
        self.assertEqual(got, [])

    def test_lone_surrogates_are_replaced_or_refused(self):
        half = "\ud83d"
        self.assertEqual(encode({f"k{half}": [half, "😀", "\\ud83d"]}, "replace"), '{"k\ufffd":["\ufffd","😀","\\\\ud83d"]}'.encode())
        self.assertEqual(well_formed(f"{half}a\ude00{half}", "replace"), "\ufffda\ufffd\ufffd")
        self.assertEqual(well_formed("\ud83d\ude00", "replace"), "😀")
        with self.assertRaisesRegex(RefusedError, "lone surrogate"):
            encode({"text": half}, "refuse")
        client, got = scripted(STAMP)
        client.checkpoints.put("k", {"state": {"text": f"half {half}"}})
        self.assertEqual(got[0].body, '{"state":{"text":"half \ufffd"}}'.encode())

    def test_what_is_no_json_is_refused(self):
        for value in (float("nan"), float("inf"), {1, 2}):
            with self.assertRaisesRegex(RefusedError, "no JSON"):
                encode({"x": value}, "replace")


class Holds(unittest.TestCase):
    def test_a_hold_renews_itself_and_is_lost_when_a_renewal_is_refused(self):
        claim = answer({"name": "c", "holder": "w", "epoch": 3, "ttl_ms": 1500})
        client, got = scripted(claim, claim, problem("fenced", 409))
        hold = client.claims.hold("c", "w", ttl_ms=1500)
        self.assertEqual(hold.fence, Fence("c", 3))
        self.assertTrue(hold.lost.wait(10))
        with self.assertRaisesRegex(LostError, "fenced"):
            hold.check()
        self.assertEqual([each.headers["Dormouse-Timeout-Ms"] for each in got[1:]], ["250", "250"])  # a silent node leaves time for others

    def test_a_hold_is_lost_once_it_could_not_be_renewed_within_its_ttl(self):
        client, _ = scripted(answer({"name": "c", "holder": "w", "epoch": 3}), lost)
        hold = client.claims.hold("c", "w", ttl_ms=60)
        self.assertTrue(hold.lost.wait(10))
        self.assertRegex(str(hold.reason), "in time")

    def test_the_end_of_a_with_statement_releases_the_claim(self):
        released = list[Got]()

        def release(got: Got) -> Response:
            released.append(got)
            return answer({"name": "c", "epoch": 3})(got)

        client, _ = scripted(answer({"name": "c", "holder": "w", "epoch": 3}), release)
        with client.claims.hold("c", "w", ttl_ms=60_000) as hold:
            hold.check()
        self.assertEqual([each.path for each in released], ["/v1/claims/c/release"])

    def test_the_idempotency_key_of_a_hold_is_that_of_its_first_attempt_to_take_the_claim_alone(self) -> None:
        renewed = threading.Event()

        def claim(got: Got) -> Response:
            if got.path == "/v1/claims/c/renew":
                renewed.set()
            return answer({"name": "c", "holder": "w", "epoch": 3})(got)

        free = stream('event: claim\ndata: {"name":"c","epoch":2}\n\n')
        client, got = scripted(problem("already_claimed", 409), free, claim)
        with client.claims.hold("c", "w", ttl_ms=1500, wait=True, idempotency_key="mine"):
            self.assertTrue(renewed.wait(10))
        keys = [each.headers["Idempotency-Key"] for each in got if each.method == "POST"]
        self.assertEqual(keys[0], "mine")
        self.assertNotIn("mine", keys[1:])
        self.assertEqual(len(set(keys)), len(keys))
