"""Specs: keywords made from the described fields, and back."""

import pickle
import unittest

import numpy
import posenc


class SpecTest(unittest.TestCase):
    def test_every_family_of_the_cli_has_a_function_and_a_method(self):
        self.assertEqual(posenc.FAMILIES, ("sinusoidal", "rope", "alibi", "learned", "grid_sinusoidal",
                                           "relative_bucket", "relative_bias", "query_temperature"))
        for family in posenc.FAMILIES:
            self.assertIn("keywords", getattr(posenc, family).__doc__)
            self.assertIn("keywords", getattr(posenc.Client, family).__doc__)

    def test_arguments_are_what_was_given(self):
        for arguments in (dict(head_dim=128),
                          dict(head_dim=128, max_len=99, base=5e5, layout="cos-sin", dtype="BF16"),
                          dict(head_dim=64, scaling="yarn", factor=4.0, original_max_len=4096),
                          dict(head_dim=64, attention_factor=1.5, arithmetic="float32")):
            with self.subTest(arguments=arguments):
                spec = posenc.rope(**arguments)
                self.assertEqual(spec.arguments, arguments)
                self.assertEqual(posenc.Spec("rope", **spec.fields), spec)
                self.assertEqual(pickle.loads(pickle.dumps(spec)), spec)
                self.assertEqual(eval(repr(spec)), spec)

    def test_defaults_are_the_fields_own(self):
        fields = posenc.sinusoidal(d_model=512).fields
        self.assertEqual((fields["max_len"], fields["base"], fields["order"]), (5000, 10000.0, "interleaved"))

    def test_records_and_alternatives_have_the_cli_s_names(self):
        self.assertEqual(posenc.rope(head_dim=8, xpos_centre=3.0).fields["xpos_scale_base"], 512.0)
        self.assertEqual(posenc.rope(head_dim=4, inverse_frequencies=[1, 0.5]).fields["scaling"], "frequencies")
        self.assertEqual(posenc.rope(head_dim=8, scaling="ntk-alpha", alpha=2.0).arguments["scaling"], "ntk-alpha")
        self.assertEqual(posenc.rope(head_dim=8, scaling=None).arguments, {"head_dim": 8})

    def test_none_is_a_keyword_that_was_not_given(self):
        nones = dict.fromkeys(("base", "scaling", "factor", "xpos_centre", "effective_length", "dtype"))
        self.assertEqual(posenc.rope(head_dim=8, **nones), posenc.rope(head_dim=8))

    def test_dtypes_of_numpy(self):
        for dtype in (numpy.float32, numpy.dtype("float32"), "f32", "float32", "F32"):
            self.assertEqual(posenc.rope(head_dim=8, dtype=dtype).arguments["dtype"], "F32")

    def test_replace_sets_fields_anew(self):
        spec = posenc.rope(head_dim=8, scaling="linear", factor=2.0)
        self.assertEqual(spec.replace(factor=4.0, dtype="bf16").arguments,
                         {"head_dim": 8, "scaling": "linear", "factor": 4.0, "dtype": "BF16"})
        self.assertEqual(spec.replace(scaling="none").arguments, {"head_dim": 8})
        self.assertEqual(spec.arguments, {"head_dim": 8, "scaling": "linear", "factor": 2.0})

    def test_specs_are_values(self):
        self.assertEqual(len({posenc.rope(head_dim=8), posenc.rope(head_dim=8, base=10000)}), 1)
        self.assertNotEqual(posenc.rope(head_dim=8), posenc.rope(head_dim=16))
        self.assertNotEqual(posenc.rope(head_dim=8), 8)


if __name__ == "__main__":
    unittest.main()
