"""StreamSlice: chunks of whole rows in order, checksums, resumption, and the same bytes as GetSlice."""

import unittest

import grpc
import reference
from harness import DEADLINE, ServerTest
from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import rope_spec_pb2, sinusoidal_spec_pb2, slice_pb2, spec_pb2

SPEC = spec_pb2.TableSpec(rope=rope_spec_pb2.RopeSpec(head_dim=64, max_len=4096),
                          element_type="ELEMENT_TYPE_F32")


class BulkTest(ServerTest):
    FLAGS = ("--block-bytes", "64KiB")

    def stream(self, **fields):
        request = service.StreamSliceRequest(spec=SPEC, **fields)
        return list(self.tables.StreamSlice(request, timeout=DEADLINE))

    def tensors_of(self, chunks):
        joined = {}
        for chunk in chunks:
            for tensor in chunk.tensors:
                joined[tensor.name] = joined.get(tensor.name, b"") + tensor.data
        return joined

    def test_chunks_are_whole_rows_in_order(self):
        chunks = self.stream()
        self.assertGreater(len(chunks), 4)
        next_row = 0
        for chunk in chunks:
            self.assertEqual(chunk.first_row, next_row)
            for tensor in chunk.tensors:
                self.assertEqual(list(tensor.shape), [chunk.row_count, 32])
                self.assertEqual(len(tensor.data), chunk.row_count * 32 * 4)
            next_row += chunk.row_count
        self.assertEqual(next_row, 4096)

    def test_header_describes_the_whole_answer(self):
        first, second = self.stream()[:2]
        self.assertEqual(len(first.header.table_key), 64)
        self.assertEqual(first.header.row_count, 4096)
        self.assertEqual(first.header.size_bytes, 4096 * 32 * 4 * 2)
        self.assertEqual([(info.name, list(info.shape)) for info in first.header.tensors],
                         [("cos", [4096, 32]), ("sin", [4096, 32])])
        self.assertFalse(second.HasField("header"))

    def test_checksum_covers_the_tensors(self):
        for chunk in self.stream(selection=slice_pb2.Selection(rows=slice_pb2.Range(begin=100, end=700))):
            data = b"".join(tensor.data for tensor in chunk.tensors)
            self.assertEqual(chunk.crc32c, reference.crc32c(data))

    def test_broken_stream_resumes_where_it_ended(self):
        whole = self.tensors_of(self.stream())
        rest = self.stream(skip_rows=1000)
        self.assertEqual(rest[0].first_row, 1000)
        self.assertEqual(rest[0].header.row_count, 4096)
        for name, data in self.tensors_of(rest).items():
            self.assertEqual(data, whole[name][1000 * 32 * 4:])

    def test_stream_and_unary_answer_are_the_same_bytes(self):
        selections = [
            slice_pb2.Selection(rows=slice_pb2.Range(begin=17, end=1203)),
            slice_pb2.Selection(rows=slice_pb2.Range(begin=17, end=203),
                                columns=slice_pb2.Range(begin=3, end=9)),
            slice_pb2.Selection(positions=slice_pb2.Positions(values=[4095, 0, -5, 7, 7])),
        ]
        for selection in selections:
            unary = self.tables.GetSlice(service.GetSliceRequest(spec=SPEC, selection=selection),
                                         timeout=DEADLINE)
            streamed = self.tensors_of(self.stream(selection=selection))
            self.assertEqual({tensor.name: tensor.data for tensor in unary.tensors}, streamed)

    def test_checksums_only_leaves_out_nothing_but_the_data(self):
        rows = slice_pb2.Range(begin=17, end=3203)
        requests = [
            {},
            {"skip_rows": 1000},
            {"skip_rows": 4096},
            {"selection": slice_pb2.Selection(rows=rows, columns=slice_pb2.Range(begin=3, end=9))},
            {"selection": slice_pb2.Selection(positions=slice_pb2.Positions(values=[4095, 0, -5, 7, 7]))},
        ]
        for fields in requests:
            with self.subTest(fields=fields):
                expected = self.stream(**fields)
                for chunk in expected:
                    for tensor in chunk.tensors:
                        tensor.ClearField("data")
                self.assertEqual(self.stream(checksums_only=True, **fields), expected)

    def test_slice_over_the_unary_limit_is_told_to_stream(self):
        big = spec_pb2.TableSpec(sinusoidal=sinusoidal_spec_pb2.SinusoidalSpec(d_model=1024))
        with self.assertRaises(grpc.RpcError) as caught:
            self.tables.GetSlice(service.GetSliceRequest(spec=big), timeout=DEADLINE)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.FAILED_PRECONDITION)
        self.assertIn("StreamSlice", caught.exception.details())


if __name__ == "__main__":
    unittest.main()
