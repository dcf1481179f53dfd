"""A real posenc-server for each suite, and what its tests share."""

import json
import os
import pathlib
import queue
import subprocess
import tempfile
import threading
import unittest

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from posenc.v1 import positional_encoding_service_pb2_grpc as service_grpc
from posenc.v1 import table_admin_service_pb2_grpc as admin_grpc

BINARIES = pathlib.Path(os.environ["POSENC_BINARY_DIR"])
SOURCES = pathlib.Path(os.environ["POSENC_SOURCE_DIR"])
LLAMA = SOURCES / "deploy/models/llama-3.1-8b/config.json"
DEADLINE = 60


def _load_messages():
    path = next(pathlib.Path(folder) / "descriptors.bin" for folder in os.environ["PYTHONPATH"].split(":")
                if (pathlib.Path(folder) / "descriptors.bin").exists())
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file:
        pool.Add(file)
    return pool, message_factory.MessageFactory(pool)


_POOL, _FACTORY = _load_messages()


def message(name):
    """The class of a message of google.rpc, grpc.health or grpc.reflection."""
    return _FACTORY.GetPrototype(_POOL.FindMessageTypeByName(name))


class ServerProcess:
    """posenc-server on free ports; ends with the context. `log` yields the lines of its log as dicts."""

    def __init__(self, *flags):
        self._folder = tempfile.TemporaryDirectory()
        self._lines, self._seen = queue.Queue(), []
        ports = pathlib.Path(self._folder.name)
        self._files = {"port": ports / "port", "admin_port": ports / "admin-port"}
        self.process = subprocess.Popen(
            [BINARIES / "posenc-server", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
             "--port-file", self._files["port"], "--admin-port-file", self._files["admin_port"],
             "--log-format", "json", *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    def _read_log(self):
        for line in self.process.stderr:
            self._seen.append(line)
            self._lines.put(line)
        self._lines.put(None)

    def wait_for(self, text):
        """Waits for the log line with that message and returns it."""
        while (line := self._lines.get(timeout=DEADLINE)) is not None:
            # What is no JSON comes from below the log: an assertion, an abort.
            entry = json.loads(line) if line.startswith("{\"") else {"msg": line}
            if entry["msg"] == text:
                return entry
        raise AssertionError(f"the server ended without saying '{text}':\n" + "".join(self._seen))

    def __enter__(self):
        try:
            self.wait_for("ready")
        except BaseException:
            self.__exit__()
            raise
        self.port = int(self._files["port"].read_text())
        self.admin_port = int(self._files["admin_port"].read_text())
        self.target = f"127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_):
        crashed = (self.process.poll() or 0) < 0
        self.process.kill()
        self.process.wait(DEADLINE)
        self._reader.join(DEADLINE)
        self.process.stderr.close()
        self._folder.cleanup()
        if crashed:
            raise AssertionError(f"the server crashed ({self.process.returncode}):\n" + "".join(self._seen))

    def channel(self):
        return grpc.insecure_channel(self.target, options=[("grpc.enable_http_proxy", 0)])


class ServerTest(unittest.TestCase):
    """One server for all tests of a class; FLAGS are further flags of it."""

    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(ServerProcess(*cls.FLAGS))
        cls.channel = cls.enterClassContext(cls.server.channel())
        cls.tables = service_grpc.PositionalEncodingServiceStub(cls.channel)
        cls.admin = admin_grpc.TableAdminServiceStub(cls.channel)

    def assert_violates(self, error, code, field):
        """Asserts that an RpcError has the code and a BadRequest that names the field."""
        self.assertEqual(error.code(), code, error.details())
        details = dict(error.trailing_metadata()).get("grpc-status-details-bin", b"")
        status = message("google.rpc.Status").FromString(details)
        self.assertEqual(status.code, code.value[0])
        violations = {}
        for entry in status.details:
            bad = message("google.rpc.BadRequest")()
            if entry.Unpack(bad):
                violations.update({item.field: item.description for item in bad.field_violations})
        self.assertIn(field, violations)
        return violations[field]
