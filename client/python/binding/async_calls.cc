#include "client/python/binding/async_calls.h"

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/python/binding/client.h"
#include "client/python/binding/connections.h"
#include "client/python/binding/errors.h"
#include "client/python/binding/python_values.h"
#include "client/python/binding/selections.h"
#include "client/python/binding/specs.h"
#include "posenc/async.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

py::object ErrorOf(const absl::Status& status) {
  try {
    Raise(status);
  } catch (py::error_already_set& error) {
    return error.value();
  }
}

// Returns a callback that hands an answer to done(answer, error).
template <typename T>
std::function<void(absl::StatusOr<T>)> Callback(const py::object& done) {
  // Copies of the callback are made and dropped by threads without the GIL.
  const std::shared_ptr<py::object> shared(new py::object(done), [](py::object* object) {
    const py::gil_scoped_acquire acquired;
    delete object;
  });
  return [shared](absl::StatusOr<T> answer) {
    const py::gil_scoped_acquire acquired;
    try {
      if (answer.ok()) {
        (*shared)(*std::move(answer), py::none());
      } else {
        (*shared)(py::none(), ErrorOf(answer.status()));
      }
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("a callback of posenc");
    }
  };
}

class AsyncCalls {
 public:
  explicit AsyncCalls(const PythonClient& client) {
    client.connection();  // raises in a forked process
    calls_ = std::make_unique<AsyncClient>(client.outermost);
  }

  ~AsyncCalls() { Close(); }
  AsyncCalls(const AsyncCalls&) = delete;
  AsyncCalls& operator=(const AsyncCalls&) = delete;

  void Close() {
    // The threads of a parent process did not come along.
    if (getpid() != process_) return void(calls_.release());
    const py::gil_scoped_release released;
    calls_.reset();
  }

  AsyncClient& calls() {
    if (calls_ == nullptr || getpid() != process_) {
      Raise(absl::FailedPreconditionError(
          "this client was closed, or made before the process was forked; make another one"));
    }
    return *calls_;
  }

 private:
  const pid_t process_ = getpid();
  std::unique_ptr<AsyncClient> calls_;
};

AsyncCall Slice(AsyncCalls& self, const py::object& done, const py::object& table, const py::object& rows,
                const py::object& positions, const py::object& columns, const py::object& heads,
                const py::object& keys, const py::object& timeout) {
  return self.calls().Slice(SpecFromPython(table), SelectionFromPython(rows, positions, columns, heads, keys),
                            Callback<Table>(done), CallFromPython(timeout));
}

AsyncCall Describe(AsyncCalls& self, const py::object& done, const py::object& table, const py::object& timeout) {
  return self.calls().Describe(SpecFromPython(table), Callback<TableDescription>(done), CallFromPython(timeout));
}

AsyncCall ResolveModel(AsyncCalls& self, const py::object& done, const std::string& config_json,
                       const std::string& gguf_json, const py::object& runtime,
                       const py::object& effective_length, const py::object& timeout) {
  return self.calls().ResolveModel(ModelQueryFromPython(config_json, gguf_json, runtime, effective_length),
                                   Callback<ModelTables>(done), CallFromPython(timeout));
}

}  // namespace

void DefineAsyncCalls(py::module_& module) {
  py::class_<AsyncCall>(module, "_AsyncCall").def("cancel", &AsyncCall::Cancel);
  py::class_<AsyncCalls>(module, "_AsyncCalls")
      .def(py::init<const PythonClient&>())
      .def("slice", &Slice)
      .def("describe", &Describe)
      .def("model", &ResolveModel)
      .def("close", &AsyncCalls::Close);
}

}  // namespace posenc::python
