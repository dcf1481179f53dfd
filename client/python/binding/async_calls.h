// Calls that return at once, for the package's asyncio client (package/posenc/aio.py).

#ifndef POSENC_CLIENT_PYTHON_BINDING_ASYNC_CALLS_H_
#define POSENC_CLIENT_PYTHON_BINDING_ASYNC_CALLS_H_

#include "pybind11/pybind11.h"

namespace posenc::python {

// Defines _AsyncCalls. Each of its methods begins a call, returns a handle with cancel(), and calls
// done(answer, error) once, one of them None, on a thread of the library's that holds the GIL.
// close() cancels what is under way and waits until all callbacks have returned.
void DefineAsyncCalls(pybind11::module_& module);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_ASYNC_CALLS_H_
