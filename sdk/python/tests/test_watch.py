import threading
import unittest

from dormouse import RefusedError
from dormouse.http import Response
from dormouse.watch import Event, parse_events

from .kit import Got, Reply, answer, lost, problem, scripted, stream


def entry(seq: int) -> str:
    return f'id: {seq}\nevent: entry\ndata: {{"id":"e{seq}","seq":{seq},"at":1,"kind":"note","payload":{{}},"refs":{{}}}}\n\n'


def change(place: str) -> str:
    return f'id: {place}\nevent: change\ndata: {{"index":1,"time":1,"kind":"value","key":"k","revision":1}}\n\n'


THREAD = answer({"id": "t", "incarnation": 5, "rev": 4})


class Watches(unittest.TestCase):
    def test_a_watch_continues_after_the_last_entry_at_another_node(self):
        last = stream(entry(3) + 'event: deleted\ndata: {"floor":2}\n\n')
        client, got = scripted(THREAD, stream(": open\n\n" + entry(0) + entry(1)), lost, stream(entry(1) + entry(2)), last)
        seqs = []
        with self.assertRaises(RefusedError) as caught:
            for each in client.threads.watch("t"):
                seqs.append(each["seq"])
        self.assertEqual((caught.exception.code, caught.exception.problem["floor"]), ("deleted", 2))
        self.assertEqual(seqs, [0, 1, 2, 3])
        self.assertEqual(got[1].query["incarnation"], ["5"])
        self.assertEqual([each.headers.get("Last-Event-ID") for each in got[1:]], [None, "1", "1", "2"])

    def test_changes_continue_after_a_place_and_after_ids_without_data(self):
        client, got = scripted(stream(change("7.0") + "id: 9\n\n"), stream(change("10.0") + "event: compacted\ndata: {}\n\n"))
        places = []
        with self.assertRaises(RefusedError) as caught:
            for each in client.changes(after="6.1"):
                places.append(each.place)
        self.assertEqual(caught.exception.code, "compacted")
        self.assertEqual(places, ["7.0", "10.0"])
        self.assertEqual([each.headers.get("Last-Event-ID") for each in got], ["6.1", "9"])

    def test_a_problem_in_a_stream_ends_it_unless_it_passes(self):
        def raised(code: str) -> str:
            return f'event: problem\ndata: {{"code":"{code}","detail":"d","status":503}}\n\n'

        client, got = scripted(THREAD, stream(entry(0) + raised("unavailable")), stream(entry(1) + raised("forbidden")))
        seqs = []
        with self.assertRaisesRegex(RefusedError, "forbidden"):
            for each in client.threads.watch("t"):
                seqs.append(each["seq"])
        self.assertEqual(seqs, [0, 1])

    def test_a_watch_of_a_claim_passes_on_each_holder_once_also_if_the_claim_was_renewed_meanwhile(self) -> None:
        def held(epoch: int, until: int) -> str:
            return f'event: claim\ndata: {{"name":"c","holder":"w","epoch":{epoch},"ttl_ms":1000,"expires_at":{until}}}\n\n'

        free = 'event: claim\ndata: {"name":"c"}\n\n'
        client, _ = scripted(stream(held(3, 1)), stream(held(3, 2) + free), stream(free + held(4, 3)), stream(held(4, 4) + held(5, 5)))
        with client.claims.watch("c") as watch:
            self.assertEqual([next(watch).get("expires_at") for _ in range(4)], [1, None, 3, 5])

    def test_a_watch_waits_before_it_asks_again_a_node_that_opens_its_stream_and_refuses_then(self) -> None:
        class Waits(threading.Event):
            def __init__(self) -> None:
                super().__init__()
                self.all = list[float | None]()

            def wait(self, timeout: float | None = None) -> bool:
                self.all.append(timeout)
                return self.is_set()

        def refused(more: str = "") -> Reply:
            return stream(f': open\n\nevent: problem\ndata: {{"code":"overloaded","detail":"d","status":429{more}}}\n\n')

        client, _ = scripted(*[refused()] * 4, refused(',"retry_after_ms":1500'), stream(change("1")))
        watch = client.changes()
        watch._closed = waits = Waits()
        self.assertEqual([next(watch).place for _ in range(2)], ["1", "1"])
        self.assertEqual(waits.all[:2] + waits.all[4:], [0, 0, 1.5, 0])  # the last one is after an event
        self.assertTrue(all(waits.all[2:4]), waits.all)

    def test_a_closed_watch_ends(self):
        client, _ = scripted(THREAD, stream(entry(0) + entry(1)))
        with client.threads.watch("t") as watch:
            self.assertEqual(next(watch)["seq"], 0)
        self.assertEqual(list(watch), [])

    def test_a_cancelled_watch_ends(self):
        cancelled = threading.Event()
        client, got = scripted(THREAD, stream(entry(0) + entry(1)))
        watch = client.threads.watch("t", cancelled=cancelled)
        self.assertEqual(next(watch)["seq"], 0)
        cancelled.set()
        self.assertEqual(list(watch), [])
        self.assertEqual(len(got), 2)

    def test_a_cancelled_hold_no_longer_waits(self):
        cancelled = threading.Event()

        def held(got: Got) -> Response:
            cancelled.set()
            return stream('event: claim\ndata: {"name":"c","holder":"other"}\n\n')(got)

        taken = problem("already_claimed", 409)
        client, got = scripted(taken, held, taken)
        with self.assertRaisesRegex(RefusedError, "already_claimed"):
            client.claims.hold("c", "me", wait=True, cancelled=cancelled)
        self.assertEqual(len(got), 3)

    def test_events_are_parsed_whatever_the_pieces_in_which_they_arrive(self):
        text = ": hello\r\nid: 1\r\nevent: a\r\ndata: x\r\ndata: é\r\n\r\nid: 2\n\ndata:y\n\n".encode()
        for size in range(1, len(text)):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            self.assertEqual(list(parse_events(pieces)), [Event("a", "x\né", "1"), Event("message", "", "2"), Event("message", "y", "2")], size)

    def test_a_large_event_arrives_in_many_pieces(self) -> None:
        text = b"data: " + b"x" * (4 << 20) + b"\n\n"
        events = list(parse_events(text[at : at + 4096] for at in range(0, len(text), 4096)))
        self.assertEqual([len(each.data) for each in events], [4 << 20])
