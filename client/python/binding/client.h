// Client in Python: the calls, and one method for each family of tables.

#ifndef POSENC_CLIENT_PYTHON_BINDING_CLIENT_H_
#define POSENC_CLIENT_PYTHON_BINDING_CLIENT_H_

#include <optional>

#include "posenc/connection.h"
#include "pybind11/pybind11.h"

namespace posenc::python {

// Requires: DefineSpecs, DefineTables and DefineModels have been called.
void DefineClient(pybind11::module_& module);

// Returns the options of a call: seconds, more than 0, or None for the usual time.
CallOptions CallFromPython(const pybind11::object& timeout);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_CLIENT_H_
