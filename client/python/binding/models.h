// What a call answers besides tables, in Python: a model's tables, and the description of a table.

#ifndef POSENC_CLIENT_PYTHON_BINDING_MODELS_H_
#define POSENC_CLIENT_PYTHON_BINDING_MODELS_H_

#include "pybind11/pybind11.h"

namespace posenc::python {

void DefineModels(pybind11::module_& module);
void DefineDescription(pybind11::module_& module);

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_MODELS_H_
