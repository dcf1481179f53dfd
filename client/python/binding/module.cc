// The module posenc._core: the C++ client library as Python sees it. The package posenc around it adds what
// is shorter in Python.

#include "client/python/binding/async_calls.h"
#include "client/python/binding/client.h"
#include "client/python/binding/models.h"
#include "client/python/binding/specs.h"
#include "client/python/binding/tables.h"
#include "posenc/connect.h"
#include "pybind11/pybind11.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ client library of posenc.";
  module.attr("__version__") = posenc::ClientVersion();
  posenc::python::DefineSpecs(module);
  posenc::python::DefineTables(module);
  posenc::python::DefineModels(module);
  posenc::python::DefineDescription(module);
  posenc::python::DefineClient(module);
  posenc::python::DefineAsyncCalls(module);
}
