#!/usr/bin/env python3
"""What the delay proxy promises: latency both ways, order, throughput, ends of streams, and an end on SIGTERM."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

PROXY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "delay_proxy.py")
DELAY = 0.040


class Server:
    """Answers each connection with what `handle` does; on a free port of the loopback."""

    def __init__(self, handle):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.handle = handle
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            self.handle(connection)


def echo(connection):
    while data := connection.recv(65536):
        connection.sendall(data)


def read_all(connection):
    pieces = []
    while data := connection.recv(1 << 20):
        pieces.append(data)
    return b"".join(pieces)


class DelayProxyTest(unittest.TestCase):
    def start(self, handle, delay=DELAY):
        server = Server(handle)
        self.addCleanup(server.socket.close)
        return self.start_proxy(server.address, delay)

    def start_proxy(self, target, delay=DELAY):
        self.proxy = subprocess.Popen(
            [sys.executable, PROXY, "--listen", "0", "--to", target, "--delay-ms", str(delay * 1000)],
            stdout=subprocess.PIPE)
        self.addCleanup(self.proxy.stdout.close)
        self.addCleanup(self.proxy.wait)
        self.addCleanup(self.proxy.kill)
        return int(self.proxy.stdout.readline())

    def connect(self, port):
        connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.addCleanup(connection.close)
        return connection

    def test_a_new_connection_costs_one_round_trip_more_than_a_kept_one(self):
        port = self.start(echo)
        started = time.monotonic()
        connection = self.connect(port)
        took = []
        for message in (b"first", b"second"):
            connection.sendall(message)
            self.assertEqual(connection.recv(100), message)
            took.append(time.monotonic() - started)
            started = time.monotonic()
        self.assertGreaterEqual(took[0], 4 * DELAY)
        self.assertGreaterEqual(took[1], 2 * DELAY)
        self.assertLess(took[1], took[0])

    def test_bytes_keep_their_order_and_their_number(self):
        port = self.start(echo)
        connection = self.connect(port)
        data = os.urandom(3_000_001)

        def send():
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)

        threading.Thread(target=send, daemon=True).start()
        self.assertEqual(read_all(connection), data)

    def test_pieces_travel_at_the_same_time(self):
        megabyte = b"x" * (1 << 20)

        def pour(connection):
            for _ in range(64):
                connection.sendall(megabyte)

        port = self.start(pour)
        connection = self.connect(port)
        started = time.monotonic()
        self.assertEqual(len(read_all(connection)), 64 << 20)
        # One piece per round trip would take at least 256 of them.
        self.assertLess(time.monotonic() - started, 128 * 2 * DELAY)

    def test_an_answer_after_the_clients_end_still_arrives(self):
        def answer(connection):
            connection.sendall(b"%d bytes" % len(read_all(connection)))

        port = self.start(answer)
        connection = self.connect(port)
        connection.sendall(b"12345")
        connection.shutdown(socket.SHUT_WR)
        self.assertEqual(read_all(connection), b"5 bytes")

    def test_nobody_behind_it_ends_the_connection(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
        connection = self.connect(self.start_proxy(address))
        self.assertEqual(connection.recv(10), b"")

    def test_sigterm_ends_it_with_connections_open(self):
        connection = self.connect(self.start(echo))
        connection.sendall(b"x")
        self.assertEqual(connection.recv(1), b"x")
        self.proxy.send_signal(signal.SIGTERM)
        self.assertEqual(self.proxy.wait(timeout=10), 0)


if __name__ == "__main__":
    unittest.main()
