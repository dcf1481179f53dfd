"""deploy/quickstart.sh shows what it says, and leaves nothing running."""

import os
import socket
import subprocess
import unittest

from harness import BINARIES, SOURCES

SCRIPT = SOURCES / "deploy/quickstart.sh"


class QuickstartTest(unittest.TestCase):
    def run_script(self, *arguments):
        return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "POSENC_BINARY_DIR": str(BINARIES)})

    def test_once_shows_every_part_and_ends(self):
        run = self.run_script("--once", "--port", "0")
        self.assertEqual(run.returncode, 0, run.stderr)
        for part in ("posenc sinusoidal --d-model 512 --max-len 5000 --rows 0:3",
                     "table [5000, 512] F32  range [-1, 1]",
                     "posenc rope --model deploy/models/llama-3.1-8b/config.json --rows 0:3",
                     "posenc alibi --heads 12 --q 19:20 --k 0:20",
                     'posenc_cache_requests_total{result="hit"}', "posenc_ready 1"):
            self.assertIn(part, run.stdout)
        for part in ("== starting the server", "== done"):
            self.assertIn(part, run.stderr)

    def test_wrong_arguments_are_named(self):
        for arguments in (("--twice",), ("--port", "x")):
            run = self.run_script(*arguments)
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr, "failed: .*allowed")

    def test_port_that_is_taken_is_a_clear_failure(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            run = self.run_script("--once", "--port", str(taken.getsockname()[1]))
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "failed: the server did not start")


if __name__ == "__main__":
    unittest.main()
