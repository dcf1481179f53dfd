"""The calls of a client as coroutines: `await client.aio.rope(head_dim=128)`.

Arguments, answers and errors are those of posenc.Client. Small slices of a service take no thread at all;
everything else waits for one of two. Cancelling the task cancels the call, at the service too.
"""

import asyncio
import weakref

from posenc import _core


class AsyncClient:
    """The calls of a client as coroutines; any event loop, any thread."""

    def __init__(self, client):
        """Takes a posenc.Client, of which it keeps the connection."""
        self._calls = _core._AsyncCalls(client)
        # At the interpreter's end no call may be under way.
        self._close = weakref.finalize(self, self._calls.close)

    def close(self):
        """Cancels what is under way and waits for its end; later calls raise FailedPrecondition."""
        self._close()

    async def get(self, table, *, timeout=None):
        """Returns a whole table; see Client.get."""
        return await self.slice(table, timeout=timeout)

    async def slice(self, table, *, rows=None, positions=None, columns=None, heads=None, keys=None, timeout=None):
        """Returns a part of a table; see Client.slice."""
        return await _answer(self._calls.slice, table, rows, positions, columns, heads, keys, timeout)

    async def gather(self, table, positions, *, timeout=None):
        """Returns one row for each position; see Client.gather."""
        return await self.slice(table, positions=positions if positions is not None else (), timeout=timeout)

    async def describe(self, table, *, timeout=None):
        """Returns the Description of a table; see Client.describe."""
        return await _answer(self._calls.describe, table, timeout)

    async def model(self, file, *, runtime="transformers", effective_length=None, timeout=None):
        """Returns the ModelTables that a model's file means; see Client.model."""
        from posenc import _model_texts

        return await _answer(self._calls.model, *_model_texts(file), runtime, effective_length, timeout)


async def _answer(begin, *arguments):
    """Begins a call and returns its answer, or raises its error."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()

    def settle(answer, error):
        if future.done():  # the task was cancelled
            return
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)

    def done(answer, error):
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, answer, error)

    call = begin(done, *arguments)
    try:
        return await future
    except asyncio.CancelledError:
        call.cancel()
        raise


def _family(name):
    async def family(self, *, timeout=None, **fields):
        return await self.slice(getattr(_core, name)(**fields), timeout=timeout)

    family.__name__, family.__qualname__ = name, f"AsyncClient.{name}"
    family.__doc__ = getattr(_core.Client, name).__doc__
    return family


for _name in _core._families():
    setattr(AsyncClient, _name, _family(_name))
del _name
