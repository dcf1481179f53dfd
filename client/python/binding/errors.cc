#include "client/python/binding/errors.h"

#include <string>

#include "posenc/specs.h"
#include "pybind11/pybind11.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

// Makes the exception `error` the current one, and leaves.
[[noreturn]] void RaiseObject(const py::object& error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

}  // namespace

void Raise(const absl::Status& status) {
  py::list violations;
  for (const FieldViolation& violation : FieldViolationsOf(status)) {
    violations.append(py::make_tuple(violation.field, violation.description));
  }
  RaiseObject(py::module_::import("posenc.errors")
                  .attr("_from_status")(absl::StatusCodeToString(status.code()),
                                        std::string(status.message()), violations));
}

void RaiseWrongArgument(const std::string& field, const std::string& value, const std::string& allowed,
                        const std::string& message) {
  RaiseObject(py::module_::import("posenc.errors").attr("_wrong_argument")(field, value, allowed, message));
}

}  // namespace posenc::python
