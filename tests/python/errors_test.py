"""Errors: exceptions with code, field, value and what is allowed."""

import pickle
import unittest

import posenc
from programs import ServerTest


class Refusals:
    def test_a_value_out_of_range_names_field_value_and_range(self):
        with self.assertRaises(posenc.InvalidArgument) as caught:
            self.client.rope(head_dim=7, base=-1.0)
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual((error.code, error.field, error.value), ("INVALID_ARGUMENT", "spec.rope.base", "-1"))
        self.assertRegex(error.allowed, r"^[0-9.e-]+ to [0-9.e+]+$")
        self.assertIn("spec.rope.base", str(error))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), again.violations, str(again)), (type(error), error.violations, str(error)))

    def test_every_wrong_field_is_named(self):
        with self.assertRaises(posenc.InvalidArgument) as caught:
            self.client.sinusoidal(d_model=0, max_len=0)
        self.assertEqual([(one.field, one.value) for one in caught.exception.violations],
                         [("spec.sinusoidal.d_model", "0"), ("spec.sinusoidal.max_len", "0")])

    def test_rows_past_the_end_are_out_of_range(self):
        with self.assertRaises(posenc.OutOfRange) as caught:
            self.client.slice(posenc.rope(head_dim=8, max_len=4), rows=(0, 5))
        self.assertEqual((caught.exception.field, caught.exception.value), ("selection.rows.end", "5"))

    def test_an_unknown_tensor_is_not_found(self):
        with self.assertRaises(posenc.NotFound) as caught:
            self.client.learned(name="wpe")
        self.assertIsInstance(caught.exception, LookupError)


class ServiceTest(Refusals, ServerTest):
    def setUp(self):
        self.client = posenc.Client(self.server.target)


class LocalTest(Refusals, unittest.TestCase):
    def setUp(self):
        self.client = posenc.local()


class WrongArgumentTest(unittest.TestCase):
    def refused(self, call, *arguments, **keywords):
        with self.assertRaises(posenc.WrongArgument) as caught:
            call(*arguments, **keywords)
        self.assertIsInstance(caught.exception, TypeError)
        self.assertIsInstance(caught.exception, ValueError)
        return caught.exception.field, caught.exception.value, caught.exception.allowed

    def test_unknown_keywords_list_the_known_ones(self):
        for more in ({}, {"head_dim": 128}):
            field, value, allowed = self.refused(posenc.rope, headdim=128, **more)
            self.assertEqual((field, value), ("headdim", "128"))
        self.assertIn("head_dim, rotary_dim, max_len, base, scaling", allowed)

    def test_a_keyword_of_another_alternative_names_it(self):
        _, _, allowed = self.refused(posenc.rope, head_dim=128, factor=2.0)
        self.assertIn("with scaling='linear'", allowed)

    def test_values_of_another_type(self):
        for keywords, field, value, allowed in (
                (dict(head_dim="8"), "head_dim", "'8'", "an integer of at most 64 bits"),
                (dict(head_dim=8.0), "head_dim", "8.0", "an integer of at most 64 bits"),
                (dict(head_dim=True), "head_dim", "True", "an integer of at most 64 bits"),
                (dict(head_dim=1 << 70), "head_dim", str(1 << 70), "an integer of at most 64 bits"),
                (dict(head_dim=8, base="x"), "base", "'x'", "a number"),
                (dict(head_dim=8, axes_sections="2"), "axes_sections", "'2'", "a sequence of integers")):
            with self.subTest(keywords=keywords):
                self.assertEqual(self.refused(posenc.rope, **keywords), (field, value, allowed))

    def test_unknown_names_list_the_known_ones(self):
        for keywords, start in ((dict(scaling="yarm"), "none, linear, llama3"), (dict(layout="half"), "split-half, "),
                                (dict(dtype="f8"), "F64, F32"), (dict(arithmetic="fast"), "exact, float32")):
            with self.subTest(keywords=keywords):
                self.assertRegex(self.refused(posenc.rope, head_dim=8, **keywords)[2], "^" + start)

    def test_a_missing_field_is_named(self):
        self.assertEqual(self.refused(posenc.rope)[0], "head_dim")
        self.assertEqual(self.refused(posenc.rope, head_dim=None)[0], "head_dim")
        self.assertEqual(self.refused(posenc.Spec, "rop")[:2], ("family", "'rop'"))

    def test_options_and_selections(self):
        client, rope = posenc.local(), posenc.rope(head_dim=8)
        self.assertEqual(self.refused(posenc.Client, "localhost:1", retries=3)[0], "retries")
        self.assertEqual(self.refused(posenc.Client, "localhost:1", timeout=-1)[:2], ("timeout", "-1"))
        self.assertEqual(self.refused(posenc.Client, "localhost:1", source="x")[2],
                         "'service', 'verified', 'automatic'")
        self.assertEqual(self.refused(posenc.Client, "localhost:1", tls={"key": "x"})[0], "tls")
        self.assertEqual(self.refused(client.slice, rope, rows=5)[0], "selection.rows")
        self.assertEqual(self.refused(client.slice, rope, rows=range(0, 9, 2))[0], "selection.rows")
        self.assertEqual(self.refused(client.gather, rope, [])[0], "selection.positions")
        self.assertEqual(self.refused(client.gather, rope, "12")[0], "selection.positions")
        self.assertEqual(self.refused(client.gather, rope, [[1, 2], [3]])[0], "selection.positions")
        self.assertEqual(self.refused(client.get, "rope")[0], "spec")
        self.assertEqual(self.refused(client.get, rope, timeout=0)[0], "timeout")


if __name__ == "__main__":
    unittest.main()
