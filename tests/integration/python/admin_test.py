"""TableAdminService: ListTables, WarmTables, EvictTables, GetServerInfo; and the warm list of the start."""

import unittest

import grpc
from harness import DEADLINE, LLAMA, ServerTest
from posenc.v1 import rope_spec_pb2, spec_pb2
from posenc.v1 import table_admin_service_pb2 as admin


def rope(head_dim):
    return spec_pb2.TableSpec(rope=rope_spec_pb2.RopeSpec(head_dim=head_dim, max_len=4096))


class AdminTest(ServerTest):
    def setUp(self):
        self.admin.EvictTables(admin.EvictTablesRequest(all=True), timeout=DEADLINE)

    def warm(self, *specs, **fields):
        return list(self.admin.WarmTables(admin.WarmTablesRequest(specs=specs, **fields), timeout=DEADLINE))

    def listed(self, **fields):
        return self.admin.ListTables(admin.ListTablesRequest(**fields), timeout=DEADLINE)

    def test_warming_tells_progress_and_pins(self):
        steps = self.warm(rope(64), rope(128))
        self.assertEqual(steps[-1].tables_done, 2)
        self.assertEqual(steps[-1].blocks_done, steps[-1].blocks_total)
        tables = self.listed().tables
        self.assertEqual(len(tables), 2)
        for table in tables:
            self.assertTrue(table.pinned)
            self.assertEqual(table.resident_bytes, table.size_bytes)
            self.assertEqual(table.resident_blocks, table.total_blocks)

    def test_unpinned_tables_are_not_pinned(self):
        self.warm(rope(64), unpinned=True)
        self.assertFalse(self.listed().tables[0].pinned)

    def test_listing_goes_page_by_page_in_order_of_keys(self):
        self.warm(rope(32), rope(64), rope(96))
        first = self.listed(page_size=2)
        second = self.listed(page_size=2, page_token=first.next_page_token)
        keys = [table.table_key for table in list(first.tables) + list(second.tables)]
        self.assertEqual((len(keys), keys), (3, sorted(keys)))
        self.assertEqual(second.next_page_token, "")

    def test_eviction_by_key_frees_that_table(self):
        self.warm(rope(64), rope(128))
        gone, kept = self.listed().tables
        result = self.admin.EvictTables(admin.EvictTablesRequest(table_keys=[gone.table_key]), timeout=DEADLINE)
        self.assertEqual((result.tables, result.bytes), (1, gone.resident_bytes))
        self.assertEqual([table.table_key for table in self.listed().tables], [kept.table_key])

    def test_evicting_an_unknown_key_is_not_found(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.admin.EvictTables(admin.EvictTablesRequest(table_keys=["0" * 64]), timeout=DEADLINE)
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_server_info_counts(self):
        before = self.admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=DEADLINE)
        self.warm(rope(64))
        after = self.admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=DEADLINE)
        self.assertTrue(after.ready)
        self.assertFalse(after.draining)
        self.assertNotEqual(after.kernel_target, "")
        self.assertGreater(after.cache.blocks_generated, before.cache.blocks_generated)
        self.assertEqual(after.cache.resident_bytes, 4096 * 64 * 4)


class WarmStartTest(ServerTest):
    FLAGS = ("--warm", str(LLAMA))

    def test_warm_list_is_resident_and_pinned_once_ready(self):
        tables = self.admin.ListTables(admin.ListTablesRequest(), timeout=DEADLINE).tables
        self.assertEqual(len(tables), 1)
        self.assertTrue(tables[0].pinned)
        self.assertEqual(tables[0].resident_bytes, 131072 * 128 * 4)
        self.assertEqual(tables[0].spec.rope.base, 500000)


if __name__ == "__main__":
    unittest.main()
