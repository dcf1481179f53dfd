"""DescribeTable and ResolveModel."""

import hashlib
import json
import unittest

import grpc
from harness import DEADLINE, LLAMA, ServerTest
from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import rope_spec_pb2, sinusoidal_spec_pb2, spec_pb2


class DescribeTest(ServerTest):
    def describe(self, with_content_digest=False, **family):
        request = service.DescribeTableRequest(spec=spec_pb2.TableSpec(**family),
                                               with_content_digest=with_content_digest)
        return self.tables.DescribeTable(request, timeout=DEADLINE)

    def test_key_is_the_digest_of_the_canonical_text(self):
        table = self.describe(sinusoidal=sinusoidal_spec_pb2.SinusoidalSpec(d_model=512))
        self.assertEqual(table.table_key, hashlib.sha256(table.canonical_text.encode()).hexdigest())
        self.assertTrue(table.canonical_text.startswith("posenc.table/1\nfamily=sinusoidal\n"))

    def test_two_spellings_have_one_key(self):
        short = self.describe(rope=rope_spec_pb2.RopeSpec(head_dim=128))
        long = self.describe(rope=rope_spec_pb2.RopeSpec(head_dim=128, rotary_dim=128, max_len=5000, base=1e4))
        self.assertEqual(short.table_key, long.table_key)

    def test_sizes_and_shapes(self):
        table = self.describe(sinusoidal=sinusoidal_spec_pb2.SinusoidalSpec(d_model=512))
        self.assertEqual([(info.name, list(info.shape)) for info in table.tensors], [("table", [5000, 512])])
        self.assertEqual((table.rows, table.size_bytes), (5000, 5000 * 512 * 4))

    def test_content_digest_is_that_of_the_bytes(self):
        spec = spec_pb2.TableSpec(rope=rope_spec_pb2.RopeSpec(head_dim=16, max_len=100))
        table = self.describe(with_content_digest=True, rope=spec.rope)
        answer = self.tables.GetSlice(service.GetSliceRequest(spec=spec), timeout=DEADLINE)
        for info, tensor in zip(table.tensors, answer.tensors, strict=True):
            self.assertEqual(info.content_sha256, hashlib.sha256(tensor.data).digest())


class ResolveModelTest(ServerTest):
    def test_llama_config_means_its_rope_cache(self):
        answer = self.tables.ResolveModel(service.ResolveModelRequest(config_json=LLAMA.read_text()),
                                          timeout=DEADLINE)
        self.assertEqual(answer.model_type, "llama")
        self.assertTrue(answer.known_family)
        rope = answer.tables[0].spec.rope
        self.assertEqual((rope.head_dim, rope.max_len, rope.base), (128, 131072, 500000))
        self.assertEqual(rope.llama3.factor, 8)
        self.assertEqual(answer.tables[0].pairing, service.PAIRING_HALF_SPLIT)

    def test_every_value_names_its_source(self):
        answer = self.tables.ResolveModel(service.ResolveModelRequest(config_json=LLAMA.read_text()),
                                          timeout=DEADLINE)
        sources = {origin.field: origin.source for origin in answer.tables[0].origins}
        self.assertIn("rope_theta", sources["rope.base"])

    def test_text_that_is_no_config_is_refused(self):
        for text in ("", "{", "[]", json.dumps({"model_type": "llama", "hidden_size": "wide"})):
            with self.subTest(text=text), self.assertRaises(grpc.RpcError) as caught:
                self.tables.ResolveModel(service.ResolveModelRequest(config_json=text), timeout=DEADLINE)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


if __name__ == "__main__":
    unittest.main()
