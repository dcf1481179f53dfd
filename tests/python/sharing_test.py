"""Several processes map one table; a client does not go along into a forked process."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy
import posenc
from programs import DEADLINE, Server

ROPE = dict(head_dim=128, max_len=8192)  # 4 MiB

MAPPER = """
import sys
import posenc
table = posenc.Client(sys.argv[1], shared_memory=sys.argv[2] == "True").rope(head_dim=128, max_len=8192)
address = table["cos"].numpy().__array_interface__["data"][0]
for line in open("/proc/self/maps"):
    span, rights, _, device, inode = line.split()[:5]
    begin, end = (int(text, 16) for text in span.split("-"))
    if begin <= address < end:
        print(rights, device, inode, flush=True)
sys.stdin.read()
"""


class SharingTest(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.server = self.enterContext(Server("--shared-memory-socket", f"{folder}/memory.sock"))

    def mappings(self, shared, processes):
        started = [subprocess.Popen([sys.executable, "-c", MAPPER, self.server.target, str(shared)], text=True,
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(processes)]
        try:
            return [process.stdout.readline().split() for process in started]
        finally:
            for process in started:
                process.communicate("", timeout=DEADLINE)

    def test_processes_share_one_mapped_table(self):
        mappings = self.mappings(shared=True, processes=3)
        self.assertEqual(mappings[0][0], "r--s")
        self.assertNotEqual(mappings[0][2], "0")
        self.assertEqual(mappings, [mappings[0]] * 3)

    def test_sharing_can_be_turned_off(self):
        self.assertEqual([mapping[0] for mapping in self.mappings(shared=False, processes=1)], ["rw-p"])

    def test_mapped_numbers_are_the_same(self):
        table = posenc.Client(self.server.target).rope(**ROPE)
        for name, tensor in posenc.local().rope(**ROPE).items():
            numpy.testing.assert_array_equal(table[name].numpy(), tensor.numpy())


class ForkTest(unittest.TestCase):
    def in_child(self, check):
        """Runs `check` in a forked process; it must return True."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if check() else 2
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_a_client_of_the_parent_says_so(self):
        with Server() as server:
            client = posenc.Client(server.target)
            table = client.rope(**ROPE)

            def refusal(call):
                with self.assertRaises(posenc.FailedPrecondition) as caught:
                    call()
                return str(caught.exception)

            def check():
                self.assertEqual(table["cos"].numpy()[0, 0], 1.0)
                self.assertIn("before the process was forked", refusal(lambda: client.rope(**ROPE)))
                self.assertIn("spawn", refusal(lambda: posenc.Client(server.target)))
                return True

            self.assertEqual(self.in_child(check), 0)
            self.assertEqual(client.rope(**ROPE).key, table.key)

    def test_local_clients_go_along(self):
        client = posenc.local(near_cache=1 << 20)
        key = client.rope(**ROPE).key
        self.assertEqual(self.in_child(lambda: client.rope(**ROPE, dtype="f64").key != key), 0)

    def test_a_child_makes_a_client_of_its_own(self):
        # In a process whose parent has made no client of a service.
        with Server() as server:
            script = ("import os, posenc, sys\n"
                      "child = os.fork()\n"
                      "if child:\n"
                      "    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
                      "shape = posenc.Client(sys.argv[1]).rope(head_dim=128, max_len=8192)['cos'].shape\n"
                      "sys.exit(shape != (8192, 64))\n")
            run = subprocess.run([sys.executable, "-c", script, server.target], timeout=DEADLINE)
            self.assertEqual(run.returncode, 0)


if __name__ == "__main__":
    unittest.main()
