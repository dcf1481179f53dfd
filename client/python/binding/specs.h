// Spec in Python: what table a caller wants, as a value.

#ifndef POSENC_CLIENT_PYTHON_BINDING_SPECS_H_
#define POSENC_CLIENT_PYTHON_BINDING_SPECS_H_

#include "posenc/specs.h"
#include "pybind11/pybind11.h"

namespace posenc::python {

void DefineSpecs(pybind11::module_& module);

// Returns the spec of a Spec, or of anything that has one as its attribute `spec` (a table of a model, a
// description). Errors: WrongArgument is raised.
const TableSpec& SpecFromPython(pybind11::handle table);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_SPECS_H_
