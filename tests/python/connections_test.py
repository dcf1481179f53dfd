"""Near cache, fallback, verified tables and stored tensors, as options of a client."""

import unittest

import numpy
import posenc
from programs import Server, ServerTest

ROPE = dict(head_dim=64, max_len=4096)


class NearCacheTest(ServerTest):
    def test_a_cached_slice_is_the_same_memory(self):
        client = posenc.Client(self.server.target, near_cache=1 << 20)
        first, second = (client.slice(posenc.rope(**ROPE), rows=(0, 8))["cos"].numpy() for _ in range(2))
        self.assertTrue(numpy.shares_memory(first, second))
        stats = client.stats()["near_cache"]
        self.assertEqual((stats["hits"], stats["misses"], stats["answers"]), (1, 1, 1))
        self.assertEqual(list(client.stats()), ["near_cache"])

    def test_rows_of_a_cached_table_are_views_of_it(self):
        client = posenc.local(near_cache=16 << 20)
        whole = client.rope(**ROPE)["cos"].numpy()
        self.assertTrue(numpy.shares_memory(whole, client.slice(posenc.rope(**ROPE), rows=(5, 9))["cos"].numpy()))


class FallbackTest(unittest.TestCase):
    def test_an_outage_costs_nothing_but_the_counters(self):
        with Server() as server:
            client = posenc.Client(server.target, fallback=True)
            expected = client.rope(**ROPE)["cos"].numpy()
        numpy.testing.assert_array_equal(client.rope(**ROPE)["cos"].numpy(), expected)
        stats = client.stats()["fallback"]
        self.assertEqual((stats["answered_by_service"], stats["answered_locally"], stats["outages"]), (1, 1, 1))

    def test_without_it_an_outage_is_unavailable(self):
        with Server() as server:
            client = posenc.Client(server.target, max_attempts=1)
            client.rope(**ROPE)
        with self.assertRaises(posenc.Unavailable) as caught:
            client.rope(**ROPE)
        self.assertIsInstance(caught.exception, ConnectionError)
        self.assertIn(server.target, str(caught.exception))


class VerifiedTest(ServerTest):
    def test_tables_are_computed_here_and_compared(self):
        client = posenc.Client(self.server.target, source="verified")
        table = client.rope(**ROPE)
        stats = client.stats()["verified"]
        self.assertEqual((stats["verified_answers"], stats["verified_bytes"], stats["mismatched_rows"]),
                         (1, table.nbytes, 0))
        numpy.testing.assert_array_equal(table["cos"].numpy(), posenc.local().rope(**ROPE)["cos"].numpy())


class LearnedTest(unittest.TestCase):
    def test_stored_tensors_have_the_files_numbers(self):
        rows = numpy.random.default_rng(0).standard_normal((6, 4), numpy.float32)
        with Server() as server:
            file = server.folder / "wpe.npy"
            numpy.save(file, rows)
            client = posenc.local(learned={"wpe": file})
        numpy.testing.assert_array_equal(client.learned(name="wpe")["table"].numpy(), rows)


if __name__ == "__main__":
    unittest.main()
