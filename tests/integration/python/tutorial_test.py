"""deploy/tutorial.sh prints what the tutorial's complete example does, and draws both pictures."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from harness import BINARIES, SOURCES

SCRIPT = SOURCES / "deploy/tutorial.sh"


class TutorialTest(unittest.TestCase):
    def run_script(self, *arguments):
        return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "POSENC_BINARY_DIR": str(BINARIES)})

    def test_shapes_range_and_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            run = self.run_script("--output", folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            for line in ("input shape       [2, 10, 512]", "output shape      [2, 10, 512]",
                         "table shape       [1, 5000, 512]", "shapes are equal  yes",
                         "output is input + table's first 10 rows  yes", "value range       [-1.0000, 1.0000]"):
                self.assertIn(line + "\n", run.stdout)
            for name in ("heatmap.png", "waveforms.png"):
                self.assertEqual(pathlib.Path(folder, name).read_bytes()[:4], b"\x89PNG")

    def test_wrong_arguments_are_named(self):
        run = self.run_script("--port")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "failed: .*allowed: --server ADDR")


if __name__ == "__main__":
    unittest.main()
