"""The real programs: posenc-server on a free port, and the CLI's bytes."""

import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

BINARIES = pathlib.Path(os.environ["POSENC_BINARY_DIR"])
SOURCES = pathlib.Path(os.environ["POSENC_SOURCE_DIR"])
LLAMA = SOURCES / "deploy/models/llama-3.1-8b/config.json"
DEADLINE = 60


def raw(*arguments):
    """The bytes that the CLI computes in its own process: all tensors, one after the other."""
    return subprocess.run([BINARIES / "posenc", *arguments, "--local", "--format", "raw"], check=True,
                          capture_output=True, timeout=DEADLINE).stdout


class Server:
    """posenc-server on free ports of the loopback interface; ends with the context."""

    def __init__(self, *flags):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._folder.name)
        self._flags = flags

    def __enter__(self):
        ports = self.folder / "port"
        self.process = subprocess.Popen(
            [BINARIES / "posenc-server", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--port-file",
             ports, "--log-format", "json", *self._flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        seen = []
        for line in self.process.stderr:
            seen.append(line)
            if line.startswith("{") and json.loads(line)["msg"] == "ready":
                break
        else:
            raise AssertionError("the server ended:\n" + "".join(seen))
        self._reader = threading.Thread(target=self.process.stderr.read, daemon=True)
        self._reader.start()
        self.target = f"127.0.0.1:{int(ports.read_text())}"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        self.process.stderr.close()
        self._folder.cleanup()


class ServerTest(unittest.TestCase):
    """One server for all tests of a class; FLAGS are further flags of it."""

    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(*cls.FLAGS))
