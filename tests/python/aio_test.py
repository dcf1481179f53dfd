"""The calls as coroutines: same answers, same errors, cancelled with their task."""

import asyncio
import gc
import socket
import subprocess
import sys
import unittest
import weakref

import numpy
import posenc
from programs import DEADLINE, LLAMA, ServerTest


class AioTest(ServerTest):
    def setUp(self):
        self.client = posenc.Client(self.server.target)

    def test_many_calls_at_once_have_the_answers_of_one_after_the_other(self):
        async def fetch():
            aio = self.client.aio
            return await asyncio.gather(*(aio.slice(posenc.rope(head_dim=64), rows=(i, i + 2)) for i in range(50)),
                                        aio.sinusoidal(d_model=8, max_len=3), aio.get(posenc.alibi(heads=2, max_len=3)),
                                        aio.gather(posenc.rope(head_dim=64), [7, 1]))

        *slices, sinusoidal, alibi, rows = asyncio.run(fetch())
        expected = self.client.rope(head_dim=64)["cos"].numpy()
        for i, part in enumerate(slices):
            numpy.testing.assert_array_equal(part["cos"].numpy(), expected[i:i + 2])
        numpy.testing.assert_array_equal(rows["cos"].numpy(), expected[[7, 1]])
        self.assertEqual((sinusoidal["table"].shape, alibi["bias"].shape), ((3, 8), (2, 3, 3)))

    def test_descriptions_and_models(self):
        async def ask():
            return await self.client.aio.describe(posenc.rope(head_dim=64)), await self.client.aio.model(LLAMA)

        description, model = asyncio.run(ask())
        self.assertEqual(description.key, self.client.describe(posenc.rope(head_dim=64)).key)
        self.assertEqual(model["main"].spec, self.client.model(LLAMA)["main"].spec)

    def test_errors_are_those_of_the_client(self):
        for client in (self.client, posenc.local()):
            with self.assertRaises(posenc.InvalidArgument) as caught:
                asyncio.run(client.aio.rope(head_dim=7))
            self.assertEqual((caught.exception.field, caught.exception.value), ("spec.rope.head_dim", "7"))
            with self.assertRaises(posenc.WrongArgument):
                asyncio.run(client.aio.rope(headdim=8))

    def test_a_cancelled_task_ends_at_once(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            client = posenc.Client(f"127.0.0.1:{silent.getsockname()[1]}")

            async def give_up():
                await asyncio.wait_for(client.aio.describe(posenc.rope(head_dim=8), timeout=600), 0.1)

            with self.assertRaises(asyncio.TimeoutError):
                asyncio.run(give_up())
            client.aio.close()
            with self.assertRaises(posenc.FailedPrecondition):
                asyncio.run(client.aio.rope(head_dim=8))

    def test_clients_are_let_go_of(self):
        client = posenc.local()
        asyncio.run(client.aio.rope(head_dim=8))
        gone = weakref.ref(client)
        del client
        gc.collect()
        self.assertIsNone(gone())

    def test_an_interpreter_ends_with_calls_under_way(self):
        script = ("import asyncio, posenc, socket\n"
                  "silent = socket.create_server(('127.0.0.1', 0))\n"
                  "client = posenc.Client(f'127.0.0.1:{silent.getsockname()[1]}')\n"
                  "async def main():\n"
                  "    task = asyncio.create_task(client.aio.rope(head_dim=8, timeout=600))\n"
                  "    await asyncio.sleep(0)\n"
                  "loop = asyncio.new_event_loop()\n"
                  "loop.run_until_complete(main())\n"
                  "print('done', flush=True)\n")
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual((run.returncode, run.stdout), (0, "done\n"), run.stderr)


if __name__ == "__main__":
    unittest.main()
