"""Tables, slices and rows: the bytes of the CLI, in memory that other libraries share."""

import struct
import unittest

import numpy
import posenc
from programs import ServerTest, raw

ROPE = dict(head_dim=8, max_len=64, base=500000.0)
ROPE_FLAGS = ("rope", "--head-dim", "8", "--max-len", "64", "--base", "500000")


def joined(table):
    return b"".join(memoryview(tensor).tobytes() for tensor in table.values())


class Reads:
    """What holds for any client: a service's and one of this process."""

    def test_tables_of_every_family_have_the_bytes_of_the_cli(self):
        for family, keywords, flags in (
                ("sinusoidal", dict(d_model=16, max_len=40, order="sin-cos"),
                 "--d-model 16 --max-len 40 --order sin-cos"),
                ("rope", dict(head_dim=16, max_len=40, scaling="llama3", factor=4.0), "--head-dim 16 --max-len 40 "
                 "--scaling llama3 --factor 4"),
                ("rope", dict(head_dim=16, max_len=9, layout="complex"), "--head-dim 16 --max-len 9 --layout complex"),
                ("alibi", dict(heads=12, form="slopes"), "--heads 12 --form slopes"),
                ("grid_sinusoidal", dict(d_model=16, grid_sizes=[3, 4]), "--d-model 16 --grid-sizes 3,4"),
                ("query_temperature", dict(max_len=40), "--max-len 40")):
            with self.subTest(family=family, keywords=keywords):
                table = getattr(self.client, family)(**keywords)
                self.assertEqual(joined(table), raw(family.replace("_", "-"), *flags.split()))

    def test_every_element_type_has_the_bytes_of_the_cli(self):
        for dtype, letter, element_bytes in (("f64", "d", 8), ("F32", "f", 4), ("float16", "e", 2), ("bf16", "H", 2)):
            with self.subTest(dtype=dtype):
                table = self.client.rope(**ROPE, dtype=dtype)
                self.assertEqual(joined(table), raw(*ROPE_FLAGS, "--dtype", dtype))
                view = memoryview(table["cos"])
                self.assertEqual((view.format, view.itemsize, view.shape), (letter, element_bytes, (64, 4)))

    def test_arithmetic_is_the_cli_s(self):
        table = self.client.rope(**ROPE, arithmetic="float32-vllm")
        self.assertEqual(joined(table), raw(*ROPE_FLAGS, "--arithmetic", "float32-vllm"))

    def test_parts_have_the_bytes_of_the_cli(self):
        rope = posenc.rope(**ROPE)
        for keywords, flags in ((dict(rows=range(3, 9)), "--rows 3:9"), (dict(rows=slice(60, None)), "--rows 60:"),
                                (dict(rows=(0, 2), columns=(1, 3)), "--rows 0:2 --cols 1:3"),
                                (dict(positions=[5, 1, 5, -3]), "--positions=5,1,5,-3"),
                                (dict(positions=numpy.array([7, 0])), "--positions 7,0")):
            with self.subTest(keywords=keywords):
                self.assertEqual(joined(self.client.slice(rope, **keywords)), raw(*ROPE_FLAGS, *flags.split()))

    def test_heads_and_keys_of_a_bias(self):
        bias = posenc.alibi(heads=4, form="symmetric", max_len=6)
        part = self.client.slice(bias, heads=(1, 3), rows=(2, 4), keys=(0, 5))
        self.assertEqual(part["bias"].shape, (2, 2, 5))
        whole = self.client.get(bias)["bias"].numpy()
        numpy.testing.assert_array_equal(part["bias"].numpy(), whole[1:3, 2:4, 0:5])

    def test_gather_of_real_positions_and_of_several_axes(self):
        timesteps = self.client.gather(posenc.sinusoidal(d_model=8), [0.5, 3])
        self.assertEqual(joined(timesteps), raw("sinusoidal", "--d-model", "8", "--real-positions", "0.5,3"))
        axes = posenc.rope(head_dim=16, axes_sections=[2, 3, 3])
        rows = self.client.gather(axes, numpy.array([[1, 2, 3], [9, 0, 4]]))
        self.assertEqual(rows["cos"].shape, (2, 8))
        self.assertAlmostEqual(float(rows["cos"].numpy()[0, 0]), 0.5403023, places=6)  # cos(1)

    def test_read_into_writes_the_caller_s_memory(self):
        cos, sin = numpy.zeros((64, 4), numpy.float32), bytearray(64 * 4 * 4)
        self.client.read_into(posenc.rope(**ROPE), [cos, sin])
        self.assertEqual(cos.tobytes() + sin, raw(*ROPE_FLAGS))
        with self.assertRaises(BufferError):
            self.client.read_into(posenc.rope(**ROPE), [bytes(1024), bytes(1024)])
        with self.assertRaises(posenc.InvalidArgument):
            self.client.read_into(posenc.rope(**ROPE), [bytearray(1024), bytearray(1020)])

    def test_description(self):
        description = self.client.describe(posenc.rope(**ROPE), content_digest=True)
        self.assertEqual(description.key, self.client.rope(**ROPE).key)
        self.assertEqual(description.tensors, {"cos": ("F32", (64, 4)), "sin": ("F32", (64, 4))})
        self.assertEqual((description.nbytes, description.rows), (2048, 64))
        self.assertEqual(description.inverse_frequencies[0], 1.0)
        self.assertEqual(len(description.content_sha256["cos"]), 64)
        self.assertEqual(description.spec.family, "rope")


class ServiceTest(Reads, ServerTest):
    def setUp(self):
        self.client = posenc.Client(self.server.target)


class LocalTest(Reads, unittest.TestCase):
    def setUp(self):
        self.client = posenc.local()


class TableTest(unittest.TestCase):
    def setUp(self):
        self.table = posenc.local().rope(**ROPE)

    def test_table_is_a_mapping(self):
        self.assertEqual((list(self.table), len(self.table)), (["cos", "sin"], 2))
        self.assertIn("cos", self.table)
        self.assertIsNone(self.table.get("tan"))
        self.assertEqual({name: tensor.shape for name, tensor in self.table.items()}, {"cos": (64, 4), "sin": (64, 4)})
        self.assertRegex(self.table.key, "^[0-9a-f]{64}$")
        with self.assertRaisesRegex(KeyError, "'tan' is no tensor of this table; it has: cos, sin"):
            self.table["tan"]

    def test_arrays_share_the_tables_memory(self):
        addresses = {numpy.asarray(self.table["cos"]).__array_interface__["data"],
                     self.table["cos"].numpy().__array_interface__["data"],
                     numpy.frombuffer(self.table["cos"], numpy.float32).__array_interface__["data"]}
        self.assertEqual(len(addresses), 1)
        address, readonly = addresses.pop()
        self.assertEqual((address % 64, readonly), (0, True))

    def test_an_array_outlives_its_table(self):
        expected = self.table["cos"].numpy().copy()
        array = self.table["cos"].numpy()
        del self.table
        posenc.local().rope(head_dim=8, max_len=64)  # would take the memory if it were free
        numpy.testing.assert_array_equal(array, expected)

    def test_dlpack_shares_the_memory(self):
        tensor = self.table["cos"]
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        array = numpy.from_dlpack(tensor)
        self.assertTrue(numpy.shares_memory(array, tensor.numpy()))
        numpy.testing.assert_array_equal(array, tensor.numpy())

    def test_dlpack_capsules(self):
        self.assertIn('"dltensor"', repr(self.table["cos"].__dlpack__()))
        self.assertIn('"dltensor_versioned"', repr(self.table["cos"].__dlpack__(max_version=(1, 0), copy=False)))
        with self.assertRaises(BufferError):
            self.table["cos"].__dlpack__(copy=True)
        with self.assertRaises(BufferError):
            self.table["cos"].__dlpack__(stream=1)

    def test_bf16_is_ml_dtypes_bfloat16_or_its_bits(self):
        array = posenc.local().rope(**ROPE, dtype="bf16")["cos"].numpy()
        self.assertIn(array.dtype.name, ("uint16", "bfloat16"))
        self.assertEqual(struct.unpack("<f", b"\0\0" + array.tobytes()[:2]), (1.0,))

    def test_torch_tensor_shares_the_memory(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        for dtype in ("f32", "bf16", "f16", "f64"):
            tensor = posenc.local().rope(**ROPE, dtype=dtype)["cos"]
            made = tensor.torch()
            self.assertEqual(made.data_ptr(), numpy.asarray(tensor).__array_interface__["data"][0])
            self.assertEqual(tuple(made.shape), (64, 4))
        self.assertEqual(posenc.local().rope(**ROPE, dtype="bf16")["cos"].torch().dtype, torch.bfloat16)


if __name__ == "__main__":
    unittest.main()
