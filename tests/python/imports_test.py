"""posenc beside grpcio, generated stubs and torch in one process, in both orders of import."""

import importlib.util
import os
import subprocess
import sys
import unittest

from programs import DEADLINE, ServerTest

POSENC = "import posenc; client = posenc.Client(target); first = client.rope(head_dim=8, max_len=4)['cos'].numpy()\n"
GRPC = """
import grpc
from posenc.v1 import positional_encoding_service_pb2 as service, rope_spec_pb2, spec_pb2
from posenc.v1 import positional_encoding_service_pb2_grpc as service_grpc
channel = grpc.insecure_channel(target, options=[("grpc.enable_http_proxy", 0)])
stub = service_grpc.PositionalEncodingServiceStub(channel)
spec = spec_pb2.TableSpec(rope=rope_spec_pb2.RopeSpec(head_dim=8, max_len=4))
answer = stub.GetSlice(service.GetSliceRequest(spec=spec), timeout=60)
"""
CHECK = """
assert answer.tensors[0].data == first.tobytes(), answer
assert client.rope(head_dim=8, max_len=4)['cos'].numpy().tobytes() == first.tobytes()
assert len(stub.GetSlice(service.GetSliceRequest(spec=spec), timeout=60).tensors) == 2
print("same bytes")
"""
TORCH = "import torch; ones = torch.ones(2, 2) @ torch.ones(2, 2)\n"
TORCH_CHECK = """
assert client.rope(head_dim=8, max_len=4)['cos'].torch().numpy().tobytes() == first.tobytes() and ones.sum() == 8
print("same bytes")
"""


class ImportsTest(ServerTest):
    def run_script(self, *parts):
        script = f"import sys; target = {self.server.target!r}; sys.path.append({os.environ['POSENC_STUBS_DIR']!r})\n"
        run = subprocess.run([sys.executable, "-c", script + "".join(parts)], capture_output=True, text=True,
                             timeout=DEADLINE)
        self.assertEqual((run.returncode, run.stdout), (0, "same bytes\n"), run.stderr)

    @unittest.skipUnless(importlib.util.find_spec("grpc"), "grpcio is not installed")
    def test_grpcio_first(self):
        self.run_script(GRPC, POSENC, CHECK)

    @unittest.skipUnless(importlib.util.find_spec("grpc"), "grpcio is not installed")
    def test_posenc_first(self):
        self.run_script(POSENC, GRPC, CHECK)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_torch_in_both_orders(self):
        self.run_script(TORCH, POSENC, TORCH_CHECK)
        self.run_script(POSENC, TORCH, TORCH_CHECK)


if __name__ == "__main__":
    unittest.main()
