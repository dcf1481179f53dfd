// Client in Python: the calls, and one method for each family of tables.

#ifndef POSENC_CLIENT_PYTHON_BINDING_CLIENT_H_
#define POSENC_CLIENT_PYTHON_BINDING_CLIENT_H_

#include <string>

#include "posenc/connection.h"
#include "pybind11/pybind11.h"

namespace posenc::python {

// Requires: DefineSpecs, DefineTables and DefineModels have been called.
void DefineClient(pybind11::module_& module);

// Returns the options of a call: seconds, more than 0, or None for the usual time.
CallOptions CallFromPython(const pybind11::object& timeout);

// Returns the query of Client.model. Errors: WrongArgument is raised for a runtime that there is not.
ModelQuery ModelQueryFromPython(const std::string& config_json, const std::string& gguf_json,
                                const pybind11::object& runtime, const pybind11::object& effective_length);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_CLIENT_H_
