"""client/python/example.py runs against a server, makes its own stubs, and shows what rotation promises."""

import os
import re
import subprocess
import sys
import unittest

from harness import SOURCES, ServerTest


class ExampleTest(ServerTest):
    def test_shows_shapes_range_and_scores_that_depend_on_the_offset_only(self):
        environment = {**os.environ, "PYTHONPATH": "", "no_proxy": "127.0.0.1"}
        run = subprocess.run([sys.executable, SOURCES / "client/python/example.py", "--server", self.server.target],
                             capture_output=True, text=True, timeout=120, env=environment)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("x (2, 10, 512) + table (5000, 512) = (2, 10, 512), table in [-1.0000, 1.0000]", run.stdout)
        self.assertIn("cos (32768, 64), sin (32768, 64), q (1, 10, 8, 128)", run.stdout)
        near, far = (float(score) for score in re.findall(r"\] = (-?[\d.]+)", run.stdout))
        self.assertAlmostEqual(near, far, delta=2e-3)
        self.assertGreater(abs(near), 0.1)


if __name__ == "__main__":
    unittest.main()
