"""A Python process maps a table of the server: the numbers that GetSlice sends, in memory nobody can write."""

import pathlib
import sys
import tempfile
import unittest

from harness import DEADLINE, SOURCES, ServerTest
from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import rope_spec_pb2, slice_pb2, spec_pb2

sys.path.insert(0, str(SOURCES / "client/python"))
import attach  # noqa: E402

_FOLDER = tempfile.TemporaryDirectory()
SOCKET = pathlib.Path(_FOLDER.name) / "memory.sock"
SPEC = spec_pb2.TableSpec(rope=rope_spec_pb2.RopeSpec(head_dim=64, max_len=20000))


class SharedMemoryTest(ServerTest):
    FLAGS = ("--shared-memory-socket", SOCKET)

    def test_mapped_rows_are_those_of_a_slice(self):
        rope = attach.attach(self.server.target, SPEC)
        self.assertEqual(rope["cos"].shape, (20000, 32))
        selection = slice_pb2.Selection(rows=slice_pb2.Range(begin=19000, end=19100))
        answer = self.tables.GetSlice(service.GetSliceRequest(spec=SPEC, selection=selection), timeout=DEADLINE)
        for tensor in answer.tensors:
            self.assertEqual(rope[tensor.name][19000:19100].tobytes(), tensor.data)

    def test_memory_is_read_only(self):
        rope = attach.attach(self.server.target, SPEC)
        with self.assertRaises(ValueError):
            rope["cos"][0, 0] = 2

    def test_token_is_good_for_one_client(self):
        offer = self.tables.OpenSharedTable(service.OpenSharedTableRequest(spec=SPEC), timeout=DEADLINE)
        attach.SharedTable(offer)
        with self.assertRaises((RuntimeError, ConnectionError)):
            attach.SharedTable(offer)



if __name__ == "__main__":
    unittest.main()
