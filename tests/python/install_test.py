"""The package installed under a prefix by CMake: whole, and working by itself in an environment of its own."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from programs import BINARIES, DEADLINE


class InstallTest(unittest.TestCase):
    def test_an_installed_package_works_without_the_build_tree(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", BINARIES.parent, "--component", "python", "--prefix", prefix],
                           check=True, capture_output=True, timeout=DEADLINE)
            version = f"python{sys.version_info.major}.{sys.version_info.minor}"
            packages = pathlib.Path(prefix, "lib", version, "site-packages")
            files = {path.name.split(".cpython")[0] for path in (packages / "posenc").iterdir()}
            self.assertEqual(files, {"__init__.py", "__init__.pyi", "_core", "aio.py", "errors.py", "py.typed"})
            environment = {key: value for key, value in os.environ.items() if not key.startswith(("POSENC_", "PYTHON"))}
            script = "import posenc; print(posenc.__file__, posenc.local().alibi(heads=2).dtype)"
            run = subprocess.run(
                [sys.executable, "-B", "-c", script],
                env={**environment, "PYTHONPATH": str(packages)}, capture_output=True, text=True, timeout=DEADLINE)
            self.assertEqual((run.returncode, run.stdout), (0, f"{packages}/posenc/__init__.py F32\n"), run.stderr)


if __name__ == "__main__":
    unittest.main()
