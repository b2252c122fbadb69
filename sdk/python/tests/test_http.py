import concurrent.futures
import http.client
import http.server
import itertools
import socket
import threading
import time
import unittest
from unittest import mock

from dormouse import Client, HttpxHttp, RefusedError, StandardHttp, UnknownError
from dormouse.http import _received


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
        if self.path == "/v1/values/parts":
            self.send_response(200)
            self.send_header("ETag", '"1"')
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"1\r\nx\r\n" * 10 + b"0\r\n\r\n")
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

    def test_idle_connections_that_the_node_closed_are_not_used(self) -> None:
        with Client(self.url) as client:
            Node.together = threading.Barrier(12)
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                list(pool.map(lambda _: client.checkpoints.get("k"), range(12)))
            Node.together = threading.Barrier(1)
            for connection in Node.connections.values():
                connection.shutdown(socket.SHUT_RDWR)
            with mock.patch("dormouse.transport.sleep", return_value=False) as wait:
                client.checkpoints.get("k")
            self.assertEqual(wait.call_count, 0)

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

    def test_the_body_of_an_answer_arrives_whole(self):
        def answering(sent: bytes, *, ends: bool):
            ours, theirs = socket.socketpair()
            self.addCleanup(ours.close)
            self.addCleanup(theirs.close)
            theirs.sendall(b"HTTP/1.1 200 OK\r\n" + sent)
            if ends:
                theirs.shutdown(socket.SHUT_WR)
            response = http.client.HTTPResponse(ours)
            response.begin()
            return response, lambda: None

        for framing in (b"Content-Length: 2\r\n\r\nab", b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"):
            self.assertEqual(_received(*answering(framing, ends=False)), b"ab")
        self.assertEqual(_received(*answering(b"Connection: close\r\n\r\nab", ends=True)), b"ab")
        for framing in (b"Content-Length: 3\r\n\r\nab", b"Transfer-Encoding: chunked\r\n\r\n3\r\nab"):
            with self.assertRaises(http.client.IncompleteRead):
                _received(*answering(framing, ends=True))

    def test_an_answer_that_arrives_slowly_is_waited_for(self):
        for library in self.libraries():
            for timeout_ms, whole in ((200_000, True), (20_000, False)):
                Node.connections.clear()
                client = Client(self.url, http=library, timeout_ms=timeout_ms)
                # Each look at the clock takes 4 s, and the client looks before each part.
                with self.subTest(type(library).__name__, whole=whole), mock.patch("time.monotonic", side_effect=itertools.count(0, 4)):
                    if whole:
                        self.assertEqual(client.values.get("parts").data, b"x" * 10)
                    else:
                        with self.assertRaisesRegex(RefusedError, "unavailable"):
                            client.values.get("parts")
                self.assertEqual(len(Node.connections), 1)

    def test_a_long_body_that_goes_slowly_is_waited_for(self):
        now, whole = 0.0, socket.socket.sendall

        def slowly(sock: socket.socket, data: bytes) -> None:
            """Sends as a connection of 32 KiB a second does, on which small messages take no time."""
            nonlocal now
            seconds = len(data) // 1024 / 32
            if (within := sock.gettimeout()) is not None and seconds > within:
                now += within
                raise TimeoutError("timed out")
            now += seconds
            whole(sock, data)

        body = bytes(1 << 20)  # 32 s
        with mock.patch.object(socket.socket, "sendall", slowly), mock.patch("time.monotonic", lambda: now):
            library = StandardHttp()
            self.addCleanup(library.close)
            self.assertEqual(Client(self.url, http=library, timeout_ms=60_000).call("PUT", "/v1/values/{key}", params={"key": "k"}, data=body).index, len(body))
            self.assertEqual(len(Node.connections), 1)
            now = 0.0
            with self.assertRaises(UnknownError):
                Client(self.url, http=library, timeout_ms=20_000).values.put("k", body)

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
