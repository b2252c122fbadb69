import unittest

from dormouse import Client, Fence

from .kit import answer, scripted, stream

STAMP = answer({"key": "k", "revision": 4})


class Options(unittest.TestCase):
    def test_an_option_that_no_call_takes_is_refused_and_nothing_is_sent(self) -> None:
        client, got = scripted(STAMP)
        calls = {
            "fense": lambda: client.checkpoints.put("k", {}, fense=Fence("c", 1)),
            "if_revison": lambda: client.values.put("k", b"", if_revison=3),
            "if_revision, until": lambda: client.commit([], until=1, if_revision=3),
            "tail": lambda: client.call("GET", "/v1/threads/{id}", params={"id": "t"}, tail=1),
            "prefx": lambda: client.changes(prefx="a"),
            "from": lambda: client.threads.watch("t", **{"from": 3}),
            "ttl": lambda: client.claims.hold("c", "w", ttl=3),
            "scop": lambda: client.with_options(scop="acme"),
            "key": lambda: Client("http://a", defaults={"key": "k"}),  # type: ignore[typeddict-unknown-key]
        }
        for named, call in calls.items():
            with self.assertRaisesRegex(TypeError, f"no option {named}$"):
                call()
        self.assertEqual(got, [])

    def test_a_checkpoint_is_put_under_conditions(self) -> None:
        client, got = scripted(STAMP)
        client.checkpoints.put("k", {"state": {}}, if_revision=0, if_incarnation=7)
        client.checkpoints.put("k", {"state": {}, "if_revision": 3})
        self.assertEqual([each.body for each in got], [b'{"state":{},"if_revision":0,"if_incarnation":7}', b'{"state":{},"if_revision":3}'])

    def test_an_option_that_is_none_is_as_if_it_were_absent(self) -> None:
        client, got = scripted(STAMP, scope="acme")
        client = client.with_options(scope="beta", fence=Fence("c", 1), timeout_ms=5_000, idempotency_key="mine")
        none = {"scope": None, "fence": None, "timeout_ms": None, "attempt_ms": None, "idempotency_key": None, "cancelled": None}
        client.checkpoints.put("k", {}, **none)
        client.with_options(**none).checkpoints.put("k", {})
        for each in got:
            sent = [each.headers.get(name) for name in ("Dormouse-Scope", "Dormouse-Fence", "Dormouse-Timeout-Ms", "Idempotency-Key")]
            self.assertEqual(sent, ["beta", 'claim="c";epoch=1', "5000", "mine"])
        client.values.list(scope=None, min_index=None)
        self.assertEqual(got[-1].headers["Dormouse-Scope"], "beta")

    def test_stale_and_min_index_go_only_to_calls_that_take_them(self) -> None:
        instance, pod = {"manager": "m", "key": "k"}, "/v1/pods/{manager}/{key}"
        client, got = scripted(STAMP)
        client = client.with_options(stale=True, min_index=7)
        client.checkpoints.get("k")
        client.read([])
        client.memory.recall({})
        for path in ("/v1/whoami", "/v1/cluster", "/v1/managers/{manager}/instances/{key}", pod, pod + "/nodes"):
            client.call("GET", path, params=instance)
        client.call("GET", "/v1/cluster/log")
        client.checkpoints.put("k", {})
        both, stale = {"stale": ["true"], "min_index": ["7"]}, {"stale": ["true"]}
        self.assertEqual([each.query for each in got], [both] * 3 + [stale] * 5 + [{}] * 2)

    def test_a_client_that_reads_stale_follows_changes(self) -> None:
        client, got = scripted(stream("id: p1\nevent: change\ndata: {}\n\n"))
        client = client.with_options(stale=True, min_index=7)
        with client.changes(prefix="a") as changes:
            next(changes)
        self.assertEqual(got[0].query, {"prefix": ["a"]})
