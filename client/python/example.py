#!/usr/bin/env python3
"""What a model does with posenc from Python: fetch tables once at start-up, apply them with NumPy.

    posenc-server &
    client/python/example.py --server localhost:50051

Needs numpy and grpcio, and to make the stubs either grpcio-tools or protoc with grpc_python_plugin.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

import grpc
import numpy as np

PROTO = pathlib.Path(__file__).resolve().parents[2] / "proto"


def make_stubs(folder):
    """Generates Python modules from our protos."""
    plugin = shutil.which("grpc_python_plugin")
    command = ["protoc", f"--plugin=protoc-gen-grpc_python={plugin}"] if plugin else [
        sys.executable, "-m", "grpc_tools.protoc"]
    files = sorted(str(path.relative_to(PROTO)) for path in PROTO.glob("posenc/v1/*.proto"))
    subprocess.run([*command, f"-I{PROTO}", f"--python_out={folder}", f"--grpc_python_out={folder}", *files],
                   check=True)


def import_stubs():
    """Returns the modules that a client needs."""
    with tempfile.TemporaryDirectory() as folder:
        make_stubs(folder)
        sys.path.insert(0, folder)
        from posenc.v1 import positional_encoding_service_pb2 as service
        from posenc.v1 import positional_encoding_service_pb2_grpc as service_grpc
        from posenc.v1 import spec_pb2
    return service, service_grpc, spec_pb2


def fetch(tables, service, spec, timeout=60):
    """Returns the tensors of a whole F32 table of any size: {name: array}."""
    arrays = {}
    for chunk in tables.StreamSlice(service.StreamSliceRequest(spec=spec), timeout=timeout):
        if chunk.HasField("header"):
            arrays = {info.name: np.empty(list(info.shape), np.float32) for info in chunk.header.tensors}
        rows = slice(chunk.first_row, chunk.first_row + chunk.row_count)
        for tensor in chunk.tensors:
            arrays[tensor.name][rows] = np.frombuffer(tensor.data, np.float32).reshape(list(tensor.shape))
    return arrays


def add_encoding(x, table):
    """x [batch, seq_len, d_model] plus the first seq_len rows of the table."""
    return x + table[:x.shape[1]]


def rotate(x, cos, sin, first_position=0):
    """Rotates q or k, [batch, seq_len, heads, head_dim], half-split as Llama does."""
    rows = slice(first_position, first_position + x.shape[1])
    cos, sin = cos[rows, None, :], sin[rows, None, :]
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", default="localhost:50051", help="address (default: %(default)s)")
    server = parser.parse_args().server
    service, service_grpc, spec_pb2 = import_stubs()
    random = np.random.default_rng(0)
    with grpc.insecure_channel(server) as channel:
        tables = service_grpc.PositionalEncodingServiceStub(channel)
        pe = fetch(tables, service, spec_pb2.TableSpec(sinusoidal={"d_model": 512}))["table"]
        rope = fetch(tables, service, spec_pb2.TableSpec(rope={"head_dim": 128, "max_len": 32768}))

    x = random.standard_normal((2, 10, 512), np.float32)
    y = add_encoding(x, pe)
    print(f"x {x.shape} + table {pe.shape} = {y.shape}, table in [{pe.min():.4f}, {pe.max():.4f}]")

    q = random.standard_normal((1, 10, 8, 128), np.float32)
    k = random.standard_normal((1, 10, 8, 128), np.float32)
    print(f"cos {rope['cos'].shape}, sin {rope['sin'].shape}, q {q.shape}")
    for first_position in (0, 20000):
        rotated_q = rotate(q, rope["cos"], rope["sin"], first_position)
        rotated_k = rotate(k, rope["cos"], rope["sin"], first_position)
        score = np.einsum("d,d->", rotated_q[0, 9, 0], rotated_k[0, 2, 0])
        print(f"q[{first_position + 9}] · k[{first_position + 2}] = {score:.3f}")


if __name__ == "__main__":
    main()
