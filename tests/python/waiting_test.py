"""Calls that wait: without the GIL, until their time is over, or until a signal."""

import os
import signal
import socket
import threading
import time
import unittest

import posenc

LONG = 60  # seconds that no test waits for


class WaitingTest(unittest.TestCase):
    def setUp(self):
        # Connections are made, and nobody ever answers.
        self.silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.silent.close)
        self.client = posenc.Client(f"127.0.0.1:{self.silent.getsockname()[1]}", max_attempts=1)
        self.rope = posenc.rope(head_dim=8)

    def test_the_time_of_a_call_ends_it(self):
        begin = time.monotonic()
        with self.assertRaises((posenc.DeadlineExceeded, posenc.Unavailable)):
            self.client.get(self.rope, timeout=0.2)
        self.assertLess(time.monotonic() - begin, LONG / 2)

    def test_ctrl_c_ends_a_wait(self):
        begin = time.monotonic()
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            self.client.get(self.rope, timeout=LONG)
        self.assertLess(time.monotonic() - begin, LONG / 2)

    def test_what_a_signal_handler_raises_ends_a_wait(self):
        def ring(*_):
            raise ZeroDivisionError

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, ring))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with self.assertRaises(ZeroDivisionError):
            self.client.describe(self.rope, timeout=LONG)

    def test_other_threads_run_while_one_waits(self):
        counts, over = [], threading.Event()

        def wait():
            with self.assertRaises(posenc.Error):
                self.client.get(self.rope, timeout=0.3)
            over.set()

        for thread_count in (1, 4):
            over.clear()
            threads = [threading.Thread(target=wait) for _ in range(thread_count)]
            for thread in threads:
                thread.start()
            count = 0
            while not over.is_set():
                count += 1
            counts.append(count)
            for thread in threads:
                thread.join(LONG)
                self.assertFalse(thread.is_alive())
        self.assertGreater(min(counts), 1000)


if __name__ == "__main__":
    unittest.main()
