// Errors of the library as Python exceptions.
//
// The classes stand in the package's errors.py; a status becomes the one of its code, with the violations
// that it carries field by field. Threads: the calling one, which holds the GIL.

#ifndef POSENC_CLIENT_PYTHON_BINDING_ERRORS_H_
#define POSENC_CLIENT_PYTHON_BINDING_ERRORS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace posenc::python {

// Raises what a status says. Requires: it is not OK.
[[noreturn]] void Raise(const absl::Status& status);

// Raises WrongArgument: a keyword that is not there, or a value of another Python type. `field` is the
// keyword, `value` its value as Python writes it, `allowed` what may stand there.
[[noreturn]] void RaiseWrongArgument(const std::string& field, const std::string& value,
                                     const std::string& allowed, const std::string& message);

// Returns the value, or raises.
template <typename T>
T ValueOrRaise(absl::StatusOr<T> result) {
  if (!result.ok()) Raise(result.status());
  return *std::move(result);
}

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_ERRORS_H_
