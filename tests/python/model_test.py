"""A model's file: named tables with spec, pairing, layers, origins."""

import json
import unittest

import posenc
from programs import LLAMA, ServerTest, raw


class Models:
    def test_llama_has_one_table(self):
        model = self.client.model(LLAMA)
        self.assertEqual((list(model), model.model_type, model.known_family), (["main"], "llama", True))
        table = model["main"]
        self.assertEqual((table.pairing, table.layers, table.rotary_begin), ("half-split", tuple(range(32)), 0))
        self.assertEqual((table.softmax_scale, table.magnitude), (1.0, 1.0))
        fields = table.spec.fields
        self.assertEqual((fields["head_dim"], fields["base"], fields["scaling"], fields["factor"]),
                         (128, 500000.0, "llama3", 8.0))
        origins = {origin.field: origin for origin in table.origins}
        self.assertEqual((origins["rope.base"].value, origins["rope.base"].source, origins["rope.base"].assumed),
                         ("500000", "rope_theta", False))

    def test_a_table_of_a_model_is_taken_as_a_spec(self):
        table = self.client.model(LLAMA)["main"]
        part = self.client.slice(table, rows=(0, 4))
        self.assertEqual(b"".join(memoryview(tensor) for tensor in part.values()),
                         raw("rope", "--model", str(LLAMA), "--rows", "0:4"))
        layout = self.client.slice(table.spec.replace(layout="cos-sin", dtype="bf16"), rows=(0, 4))
        self.assertEqual((list(layout), layout.dtype, layout["table"].shape), (["table"], "BF16", (4, 128)))

    def test_folders_and_dicts_are_files(self):
        expected = self.client.model(LLAMA)["main"].spec
        self.assertEqual(self.client.model(LLAMA.parent)["main"].spec, expected)
        self.assertEqual(self.client.model(json.loads(LLAMA.read_text()))["main"].spec, expected)

    def test_runtimes_have_rules_of_their_own(self):
        config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
                  "max_position_embeddings": 128, "rope_scaling": {"type": "dynamic", "factor": 4.0}}
        theirs, vllm = (self.client.model(config, runtime=runtime)["main"].spec.fields
                        for runtime in ("transformers", "vllm"))
        # vLLM makes the table once, for the longest sequence; transformers as sequences grow.
        self.assertEqual((theirs["scaling"], vllm["scaling"], vllm["effective_length"]), ("none", "dynamic", 512))

    def test_errors_name_what_is_wrong(self):
        with self.assertRaises(posenc.WrongArgument) as caught:
            self.client.model(LLAMA, runtime="jax")
        self.assertEqual((caught.exception.field, caught.exception.value), ("runtime", "'jax'"))
        self.assertIn("vllm", caught.exception.allowed)
        with self.assertRaises(posenc.WrongArgument):
            self.client.model(LLAMA, effective_length="x")
        with self.assertRaises(FileNotFoundError):
            self.client.model("/nowhere/config.json")
        with self.assertRaises(posenc.Error):
            self.client.model("/nowhere/model.gguf")
        with self.assertRaises(posenc.InvalidArgument):
            self.client.model({"model_type": "llama", "hidden_size": -1, "num_attention_heads": 4})
        with self.assertRaisesRegex(KeyError, "'x' is no table of this model; it has: main"):
            self.client.model(LLAMA)["x"]


class ServiceTest(Models, ServerTest):
    def setUp(self):
        self.client = posenc.Client(self.server.target)


class LocalTest(Models, unittest.TestCase):
    def setUp(self):
        self.client = posenc.local()


if __name__ == "__main__":
    unittest.main()
