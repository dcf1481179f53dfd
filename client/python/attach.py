"""Maps a table of a posenc-server on this host: no copy, one set of pages for all processes.

    rope = attach("localhost:50051", TableSpec(rope=RopeSpec(head_dim=128, max_len=131072)))
    cos = rope["cos"]   # a read-only NumPy array; keep `rope` as long as you use it

The server needs --shared-memory-socket. The generated stubs must be importable (see example.py).
"""

import mmap
import os
import socket

import grpc
import numpy

from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import positional_encoding_service_pb2_grpc as service_grpc
from posenc.v1 import spec_pb2

DTYPES = {
    spec_pb2.ELEMENT_TYPE_F64: "<f8",
    spec_pb2.ELEMENT_TYPE_F32: "<f4",
    spec_pb2.ELEMENT_TYPE_F16: "<f2",
    spec_pb2.ELEMENT_TYPE_BF16: "<u2",  # NumPy has no bfloat16: the bits
    spec_pb2.ELEMENT_TYPE_C64: "<c8",
    spec_pb2.ELEMENT_TYPE_C128: "<c16",
    spec_pb2.ELEMENT_TYPE_I32: "<i4",
}


class SharedTable:
    """A mapped table: arrays by name. The open connection is the lease on the server's memory."""

    def __init__(self, offer):
        self._lease = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._lease.connect(offer.socket_path)
        self._lease.sendall(offer.token.encode())
        _, descriptors, _, _ = socket.recv_fds(self._lease, 1, 1)
        if not descriptors:
            raise RuntimeError("the server on this host does not know the token")
        self._memory = mmap.mmap(descriptors[0], 0, prot=mmap.PROT_READ)
        os.close(descriptors[0])
        self._arrays = {tensor.info.name: self._array(tensor) for tensor in offer.tensors}

    def _array(self, tensor):
        dtype = numpy.dtype(DTYPES[tensor.info.element_type])
        count = tensor.size_bytes // dtype.itemsize
        flat = numpy.frombuffer(self._memory, dtype, count, tensor.offset_bytes)
        return flat.reshape(tuple(tensor.info.shape))

    def __getitem__(self, name):
        return self._arrays[name]


def attach(target, spec):
    """Returns the SharedTable of a TableSpec. RpcError: FAILED_PRECONDITION without a socket."""
    with grpc.insecure_channel(target) as channel:
        stub = service_grpc.PositionalEncodingServiceStub(channel)
        return SharedTable(stub.OpenSharedTable(service.OpenSharedTableRequest(spec=spec), timeout=60))
