import concurrent.futures
import http.client
import http.server
import socket
import threading
import time
import unittest
from unittest import mock

from dormouse import Client, HttpxHttp, RefusedError, StandardHttp
from dormouse.http import _content


class Node(http.server.BaseHTTPRequestHandler):
    """Answers each call with what it got; a stream brings one event and then stays silent."""

    protocol_version = "HTTP/1.1"
    connections = dict[tuple[str, int], socket.socket]()
    quiet = threading.Event()
    together = threading.Barrier(1)

    def do_GET(self) -> None:
        Node.connections[self.client_address] = self.request
        Node.together.wait(10)
        if self.headers.get("Accept") == "text/event-stream":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            event = b'id: 1.0\nevent: change\ndata: {"n":1}\n\n'
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
            Node.quiet.wait(30)
            self.close_connection = True
            return
        length = int(self.headers.get("Content-Length", 0))
        if length > 1 << 20:
            return self.refuse()
        body = self.rfile.read(length)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.send_header("Dormouse-Index", str(len(body)))
        self.end_headers()
        self.wfile.write(b"{}")

    do_PUT = do_GET

    def refuse(self) -> None:
        problem = b'{"code":"too_large","detail":"d","status":413}'
        self.send_response(413)
        self.send_header("Content-Length", str(len(problem)))
        self.end_headers()
        self.wfile.write(problem)
        time.sleep(0.1)  # the client fills the buffers before the connection is reset
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def refusing() -> str:
    """Returns the URL of a port of loopback that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


class Connections(unittest.TestCase):
    def setUp(self) -> None:
        Node.connections.clear()
        Node.quiet.clear()
        Node.together = threading.Barrier(1)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Node)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(Node.quiet.set)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def libraries(self):
        standard = StandardHttp()
        self.addCleanup(standard.close)
        yield standard
        try:
            import httpx
        except ImportError:
            return  # it is optional
        client = httpx.Client()
        self.addCleanup(client.close)
        yield HttpxHttp(client)

    def test_connections_are_used_again(self):
        for library in self.libraries():
            with self.subTest(type(library).__name__):
                Node.connections.clear()
                client = Client(self.url, http=library)
                self.assertEqual(client.call("PUT", "/v1/checkpoints/{key}", params={"key": "ä"}, body={"state": {"é": 1}}).index, len('{"state":{"é":1}}'.encode()))
                for _ in range(5):
                    client.checkpoints.get("k", scope="ü")
                self.assertEqual(len(Node.connections), 1)

    def test_idle_connections_that_the_node_closed_cost_one_attempt(self) -> None:
        with Client(self.url) as client:
            Node.together = threading.Barrier(12)
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                list(pool.map(lambda _: client.checkpoints.get("k"), range(12)))
            Node.together = threading.Barrier(1)
            for connection in Node.connections.values():
                connection.shutdown(socket.SHUT_RDWR)
            with mock.patch("dormouse.transport.sleep", return_value=False) as wait:
                client.checkpoints.get("k")
            self.assertLessEqual(wait.call_count, 1)

    def test_a_large_body_is_refused_although_the_node_does_not_read_it(self) -> None:
        with Client(self.url, timeout_ms=1000) as client, self.assertRaisesRegex(RefusedError, "too_large"):
            client.values.put("k", bytes(32 << 20))

    def test_a_write_that_no_node_took_a_connection_for_is_refused(self):
        for library in self.libraries():
            with self.subTest(type(library).__name__), self.assertRaises(RefusedError) as caught:
                Client([refusing(), "http://no-such-host.invalid"], http=library, timeout_ms=100).values.put("k", b"v")
            self.assertEqual(caught.exception.code, "unavailable")

    def test_a_call_that_is_sent_once_goes_to_the_next_node_if_the_first_refuses_connections(self):
        for library in self.libraries():
            with self.subTest(type(library).__name__):
                client = Client([refusing(), self.url], http=library)
                client.transport.leave(self.url)  # the first one is refused
                client.call("PUT", "/v1/no/such/path", body={})
                self.assertEqual(client.transport.endpoint, self.url)

    def test_the_body_of_an_answer_arrives_in_time_and_whole(self):
        def answering(sent: bytes, *, ends: bool):
            ours, theirs = socket.socketpair()
            self.addCleanup(ours.close)
            self.addCleanup(theirs.close)
            theirs.sendall(b"HTTP/1.1 200 OK\r\n" + sent)
            if ends:
                theirs.shutdown(socket.SHUT_WR)
            response = http.client.HTTPResponse(ours)
            response.begin()
            return response, ours

        for framing in (b"Content-Length: 2\r\n\r\nab", b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"):
            self.assertEqual(_content(*answering(framing, ends=False), time.monotonic() + 60), b"ab")
        self.assertEqual(_content(*answering(b"Connection: close\r\n\r\nab", ends=True), time.monotonic() + 60), b"ab")
        for framing in (b"Content-Length: 3\r\n\r\nab", b"Transfer-Encoding: chunked\r\n\r\n3\r\nab"):
            with self.assertRaises(http.client.IncompleteRead):
                _content(*answering(framing, ends=True), time.monotonic() + 60)
        response, sock = answering(b"Content-Length: 3\r\n\r\nab", ends=False)
        with mock.patch("time.monotonic", side_effect=[0, 5]), self.assertRaises(TimeoutError):
            _content(response, sock, 5)

    def test_a_forked_process_does_not_use_the_connections_of_its_parent(self) -> None:
        with Client(self.url) as client:
            client.checkpoints.get("k")
            with mock.patch("os.getpid", return_value=1):
                client.checkpoints.get("k")
            self.assertEqual(len(Node.connections), 2)

    def test_a_watch_is_closed_by_another_thread_while_it_waits(self):
        for library in self.libraries():
            with self.subTest(type(library).__name__):
                got, first = list[object](), threading.Event()

                def follow(watch):
                    for change in watch:
                        got.append(change.change)
                        first.set()

                watch = Client(self.url, http=library).changes()
                thread = threading.Thread(target=follow, args=(watch,), daemon=True)
                thread.start()
                self.assertTrue(first.wait(10))
                watch.close()
                thread.join(10)
                self.assertFalse(thread.is_alive())
                self.assertEqual(got, [{"n": 1}])
