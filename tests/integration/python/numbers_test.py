"""GetSlice gives the numbers of the formulas, every bit of them, in every element type."""

import json
import unittest

import reference
from harness import DEADLINE, SOURCES, ServerTest
from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import (
    bias_spec_pb2, rope_scaling_pb2, rope_spec_pb2, sinusoidal_spec_pb2, slice_pb2, spec_pb2)

POSITIONS = [0, 1, 7, 4999, 131071, 2**31 + 1, 2**53 - 1]
LLAMA31 = {"base": 500000, "factor": 8, "low": 1, "high": 4, "original": 8192}


def llama31_spec(**fields):
    return rope_spec_pb2.RopeSpec(
        head_dim=128, max_len=131072, base=500000,
        llama3=rope_scaling_pb2.Llama3Scaling(factor=8, low_freq_factor=1, high_freq_factor=4, original_max_len=8192),
        **fields)


class NumbersTest(ServerTest):
    def slice(self, type_name, selection, **family):
        spec = spec_pb2.TableSpec(element_type=f"ELEMENT_TYPE_{type_name}", **family)
        answer = self.tables.GetSlice(service.GetSliceRequest(spec=spec, selection=selection),
                                      timeout=DEADLINE)
        return {tensor.name: tensor for tensor in answer.tensors}

    def test_sinusoidal_rows_are_correctly_rounded(self):
        rows = {position: reference.sinusoidal_row(position, 64) for position in POSITIONS}
        selection = slice_pb2.Selection(positions=slice_pb2.Positions(values=POSITIONS))
        sinusoidal = sinusoidal_spec_pb2.SinusoidalSpec(d_model=64, max_len=2**53)
        for type_name in reference.FORMATS:
            with self.subTest(type=type_name):
                table = self.slice(type_name, selection, sinusoidal=sinusoidal)["table"]
                self.assertEqual(list(table.shape), [len(POSITIONS), 64])
                expected = [reference.rounded(value, type_name) for row in rows.values() for value in row]
                self.assertEqual(table.data, reference.pack(expected, type_name))

    def test_rope_rows_are_correctly_rounded(self):
        frequencies = [reference.llama3_frequency(pair, 64, **LLAMA31) for pair in range(64)]
        selection = slice_pb2.Selection(positions=slice_pb2.Positions(values=[7, 131071]))
        rows = [reference.rope_row(position, frequencies) for position in (7, 131071)]
        for type_name in reference.FORMATS:
            with self.subTest(type=type_name):
                tensors = self.slice(type_name, selection, rope=llama31_spec())
                for index, name in enumerate(("cos", "sin")):
                    expected = [reference.rounded(value, type_name) for row in rows for value in row[index]]
                    self.assertEqual(tensors[name].data, reference.pack(expected, type_name), name)

    def test_alibi_bias_of_one_query_is_slope_times_distance(self):
        selection = slice_pb2.Selection(rows=slice_pb2.Range(begin=19, end=20),
                                        keys=slice_pb2.Range(begin=0, end=20))
        bias = self.slice("F32", selection, alibi=bias_spec_pb2.AlibiSpec(heads=12))["bias"]
        self.assertEqual(list(bias.shape), [12, 1, 20])
        expected = [reference.rounded(-slope * (19 - key), "F32")
                    for slope in reference.paper_slopes(12) for key in range(20)]
        # The last key is the query itself: its bias is 0 of either sign.
        self.assertEqual([value + 0.0 for value in expected], [value + 0.0 for value in floats(bias.data)])

    def test_probes_of_other_systems_hold(self):
        golden = json.loads((SOURCES / "tests/golden/data/rope_llama31_8b.json").read_text())
        probes = golden["probes"]
        spec = llama31_spec()
        spec.max_len = 1 << 20
        selection = slice_pb2.Selection(
            positions=slice_pb2.Positions(values=[probe["pos"] for probe in probes]))
        tensors = self.slice("F32", selection, rope=spec)
        for row, probe in enumerate(probes):
            for name in ("cos", "sin"):
                value = floats(tensors[name].data)[row * 64 + probe["pair"]]
                self.assertEqual(value, float.fromhex(probe[f"{name}_exact_f32"]), probe)


def floats(data):
    return memoryview(data).cast("f").tolist()


if __name__ == "__main__":
    unittest.main()
