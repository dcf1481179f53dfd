"""Bad input gets an answer that names the field, and the server goes on."""

import unittest

import grpc
from google.protobuf import text_format
from harness import DEADLINE, ServerTest
from posenc.v1 import positional_encoding_service_pb2 as service
from posenc.v1 import table_admin_service_pb2 as admin

INVALID, OUT_OF_RANGE = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.OUT_OF_RANGE
ROPE = "spec { rope { head_dim: 8 max_len: 100 } } "
ALIBI = "spec { alibi { heads: 4 max_len: 10 } } "

# Code, field, and the GetSliceRequest that is wrong.
CASES = [
    (INVALID, "spec.family", "spec {}"),
    (INVALID, "spec.family", ""),
    (INVALID, "spec.element_type", "spec { rope { head_dim: 8 } element_type: 99 }"),
    (INVALID, "spec.element_type", "spec { rope { head_dim: 8 } element_type: ELEMENT_TYPE_C64 }"),
    (INVALID, "spec.arithmetic", "spec { rope { head_dim: 8 } arithmetic: 9 }"),
    (INVALID, "spec.sinusoidal.d_model", "spec { sinusoidal {} }"),
    (INVALID, "spec.sinusoidal.d_model", "spec { sinusoidal { d_model: 7 } }"),
    (INVALID, "spec.sinusoidal.max_len", "spec { sinusoidal { d_model: 8 max_len: -1 } }"),
    (INVALID, "spec.sinusoidal.base", "spec { sinusoidal { d_model: 8 base: nan } }"),
    (INVALID, "spec.sinusoidal.order", "spec { sinusoidal { d_model: 8 order: 77 } }"),
    (INVALID, "spec.sinusoidal.frequency_shift", "spec { sinusoidal { d_model: 8 frequency_shift: 4 } }"),
    (INVALID, "spec.sinusoidal.odd_width", "spec { sinusoidal { d_model: 7 odd_width: -1 } }"),
    (INVALID, "spec.sinusoidal.first_position",
     "spec { sinusoidal { d_model: 8 first_position: 9223372036854775807 } }"),
    (INVALID, "spec.sinusoidal.zero_row", "spec { sinusoidal { d_model: 8 zero_row: -9 } }"),
    (INVALID, "spec.sinusoidal.position_scale", "spec { sinusoidal { d_model: 8 position_scale: inf } }"),
    (INVALID, "spec.sinusoidal.row_scale", "spec { sinusoidal { d_model: 8 row_scale: 0 } }"),
    (INVALID, "spec.rope.head_dim", "spec { rope { head_dim: 9223372036854775807 } }"),
    (INVALID, "spec.rope.rotary_dim", "spec { rope { head_dim: 8 rotary_dim: 9 } }"),
    (INVALID, "spec.rope.max_len", "spec { rope { head_dim: 8 max_len: 0 } }"),
    (INVALID, "spec.rope.base", "spec { rope { head_dim: 8 base: 0 } }"),
    (INVALID, "spec.rope.layout", "spec { rope { head_dim: 8 layout: 17 } }"),
    (INVALID, "spec.rope.first_position", "spec { rope { head_dim: 8 first_position: -9223372036854775808 } }"),
    (INVALID, "spec.rope.linear.factor", "spec { rope { head_dim: 8 linear {} } }"),
    (INVALID, "spec.rope.llama3.factor", "spec { rope { head_dim: 8 llama3 { factor: 0 } } }"),
    (INVALID, "spec.rope.frequencies.inverse_frequencies", "spec { rope { head_dim: 8 frequencies {} } }"),
    (INVALID, "spec.alibi.heads", "spec { alibi { heads: 0 } }"),
    (INVALID, "spec.alibi.max_len", "spec { alibi { heads: 8 max_len: 1099511627776 } }"),
    (INVALID, "spec.alibi.bias_max", "spec { alibi { heads: 8 bias_max: -1 } }"),
    (INVALID, "spec.alibi.slope_rule", "spec { alibi { heads: 8 slope_rule: 5 } }"),
    (INVALID, "spec.alibi.form", "spec { alibi { heads: 8 form: 6 } }"),
    (INVALID, "spec.alibi.masked", "spec { alibi { heads: 8 form: ALIBI_FORM_SYMMETRIC masked: true } }"),
    (OUT_OF_RANGE, "selection.rows.end", ROPE + "selection { rows { end: 101 } }"),
    (OUT_OF_RANGE, "selection.rows.begin", ROPE + "selection { rows { begin: -1 } }"),
    (INVALID, "selection.rows.end", ROPE + "selection { rows { begin: 5 end: 4 } }"),
    (INVALID, "selection.positions", ROPE + "selection { positions {} }"),
    (OUT_OF_RANGE, "selection.positions[1]", ROPE + "selection { positions { values: [0, 100] } }"),
    (OUT_OF_RANGE, "selection.columns.end", ROPE + "selection { columns { end: 5 } }"),
    (INVALID, "selection.heads", ROPE + "selection { heads { end: 1 } }"),
    (INVALID, "selection.keys", ROPE + "selection { keys { end: 1 } }"),
    (OUT_OF_RANGE, "selection.heads.end", ALIBI + "selection { heads { end: 5 } }"),
    (OUT_OF_RANGE, "selection.keys.end", ALIBI + "selection { keys { end: 11 } }"),
    (INVALID, "selection.columns", ALIBI + "selection { columns { end: 1 } }"),
]


class ErrorsTest(ServerTest):
    def assert_serves(self):
        good = text_format.Parse(ROPE, service.GetSliceRequest())
        self.assertEqual(len(self.tables.GetSlice(good, timeout=DEADLINE).tensors), 2)

    def test_every_wrong_field_is_named_by_both_bulk_calls(self):
        for code, field, text in CASES:
            calls = [(self.tables.GetSlice, service.GetSliceRequest),
                     (lambda *args, **kwargs: list(self.tables.StreamSlice(*args, **kwargs)),
                      service.StreamSliceRequest)]
            for call, kind in calls:
                with self.subTest(text=text, call=kind.__name__):
                    with self.assertRaises(grpc.RpcError) as caught:
                        call(text_format.Parse(text, kind()), timeout=DEADLINE)
                    allowed = self.assert_violates(caught.exception, code, field)
                    self.assertRegex(allowed, "allowed|is given|missing|stands")
        self.assert_serves()

    def test_skipping_more_rows_than_there_are_is_refused(self):
        for rows in (-1, 101):
            request = text_format.Parse(ROPE + f"skip_rows: {rows}", service.StreamSliceRequest())
            with self.assertRaises(grpc.RpcError) as caught:
                list(self.tables.StreamSlice(request, timeout=DEADLINE))
            self.assertIn(caught.exception.code(), (INVALID, OUT_OF_RANGE))

    def test_malformed_messages_are_answered(self):
        for name in ("GetSlice", "StreamSlice", "DescribeTable", "ResolveModel"):
            for data in (b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0a\x05abc", bytes(range(256))):
                with self.subTest(name=name, data=data[:8]):
                    call = self.channel.unary_stream(f"/posenc.v1.PositionalEncodingService/{name}")
                    with self.assertRaises(grpc.RpcError) as caught:
                        list(call(data, timeout=DEADLINE))
                    self.assertIn(caught.exception.code(), (INVALID, grpc.StatusCode.INTERNAL))
        self.assert_serves()

    def test_unknown_method_is_unimplemented(self):
        call = self.channel.unary_unary("/posenc.v1.PositionalEncodingService/Nothing")
        with self.assertRaises(grpc.RpcError) as caught:
            call(b"", timeout=DEADLINE)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNIMPLEMENTED)

    def test_admin_calls_check_their_input(self):
        calls = [(self.admin.ListTables, admin.ListTablesRequest(page_size=-1)),
                 (self.admin.ListTables, admin.ListTablesRequest(page_token="nonsense")),
                 (self.admin.EvictTables, admin.EvictTablesRequest()),
                 (self.admin.EvictTables, admin.EvictTablesRequest(table_keys=["short"]))]
        for call, request in calls:
            with self.subTest(request=request), self.assertRaises(grpc.RpcError) as caught:
                call(request, timeout=DEADLINE)
            self.assertEqual(caught.exception.code(), INVALID)
        with self.assertRaises(grpc.RpcError) as caught:
            list(self.admin.WarmTables(admin.WarmTablesRequest(), timeout=DEADLINE))
        self.assertEqual(caught.exception.code(), INVALID)


if __name__ == "__main__":
    unittest.main()
