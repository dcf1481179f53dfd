#include "client/python/binding/client.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/python/binding/connections.h"
#include "client/python/binding/errors.h"
#include "client/python/binding/family_text.h"
#include "client/python/binding/python_values.h"
#include "client/python/binding/selections.h"
#include "client/python/binding/spec_arguments.h"
#include "client/python/binding/specs.h"
#include "client/python/binding/waiting.h"
#include "posenc/client.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

Table Fetch(const PythonClient& client, const TableSpec& spec, Selection selection, const py::object& timeout) {
  Connection& connection = client.connection();
  // What is at hand needs no wait, and no thread to wait in.
  if (std::optional<Table> known = connection.Recall(spec, selection)) return *std::move(known);
  FetchParams params{.spec = spec, .selection = std::move(selection), .call = CallFromPython(timeout)};
  return ValueOrRaise(Await([&](std::stop_token stop) {
    params.call.stop = std::move(stop);
    return connection.Fetch(params);
  }));
}

// The keywords of a call that asks for a family's whole table: those of its spec, and timeout.
Table FetchFamily(const PythonClient& client, const std::string& family, const py::kwargs& arguments) {
  const py::dict fields = py::reinterpret_steal<py::dict>(PyDict_Copy(arguments.ptr()));
  const py::object timeout = fields.attr("pop")("timeout", py::none());
  return Fetch(client, SpecFromArguments(family, fields), Selection(), timeout);
}

TableDescription Describe(const PythonClient& client, const py::object& table, bool content_digest,
                          const py::object& timeout) {
  Connection& connection = client.connection();
  DescribeParams params{.spec = SpecFromPython(table),
                        .with_content_digest = content_digest,
                        .call = CallFromPython(timeout)};
  return ValueOrRaise(Await([&](std::stop_token stop) {
    params.call.stop = std::move(stop);
    return connection.Describe(params);
  }));
}

ModelTables ResolveModel(const PythonClient& client, const std::string& config_json,
                         const std::string& gguf_json, const py::object& runtime,
                         const py::object& effective_length, const py::object& timeout) {
  Connection& connection = client.connection();
  ResolveModelParams params{.query = ModelQueryFromPython(config_json, gguf_json, runtime, effective_length),
                            .call = CallFromPython(timeout)};
  return ValueOrRaise(Await([&](std::stop_token stop) {
    params.call.stop = std::move(stop);
    return connection.ResolveModel(params);
  }));
}

// Memory that a call writes: stays locked, which forbids to resize it, until the call has ended.
class WrittenBuffers {
 public:
  explicit WrittenBuffers(const py::iterable& buffers) {
    for (py::handle object : buffers) {
      auto view = std::make_unique<Py_buffer>();
      if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) {
        throw py::error_already_set();
      }
      views_.emplace_back(view.release());
    }
  }

  std::vector<std::span<std::byte>> spans() const {
    std::vector<std::span<std::byte>> spans;
    for (const auto& view : views_) {
      spans.emplace_back(static_cast<std::byte*>(view->buf), static_cast<size_t>(view->len));
    }
    return spans;
  }

 private:
  struct Release {
    void operator()(Py_buffer* view) const {
      PyBuffer_Release(view);
      delete view;
    }
  };
  std::vector<std::unique_ptr<Py_buffer, Release>> views_;
};

void ReadInto(const PythonClient& client, const py::object& table, const py::iterable& destinations,
              Selection selection, const py::object& timeout) {
  Connection& connection = client.connection();
  const WrittenBuffers buffers(destinations);
  StreamParams params{.spec = SpecFromPython(table),
                      .selection = std::move(selection),
                      .destinations = [spans = buffers.spans()](const SliceInfo&) { return spans; },
                      .call = CallFromPython(timeout)};
  const absl::Status status = Await([&](std::stop_token stop) {
    params.call.stop = std::move(stop);
    return connection.Stream(params);
  });
  if (!status.ok()) Raise(status);
}

// The arguments of a selection and the timeout, with their defaults.
#define POSENC_SELECTION_ARGUMENTS                                                                         \
  py::kw_only(), py::arg("rows") = py::none(), py::arg("positions") = py::none(),                          \
      py::arg("columns") = py::none(), py::arg("heads") = py::none(), py::arg("keys") = py::none(),        \
      py::arg("timeout") = py::none()

void DefineReads(py::class_<PythonClient>& client) {
  client
      .def("get", [](const PythonClient& self, const py::object& table, const py::object& timeout) {
             return Fetch(self, SpecFromPython(table), Selection(), timeout);
           },
           py::arg("table"), py::kw_only(), py::arg("timeout") = py::none(),
           "Returns a whole table: of a Spec, or of a table of a model.")
      .def("slice",
           [](const PythonClient& self, const py::object& table, const py::object& rows,
              const py::object& positions, const py::object& columns, const py::object& heads,
              const py::object& keys, const py::object& timeout) {
             return Fetch(self, SpecFromPython(table),
                          SelectionFromPython(rows, positions, columns, heads, keys), timeout);
           },
           py::arg("table"), POSENC_SELECTION_ARGUMENTS, R"(Returns a part of a table.

rows, columns, heads (biases), keys (biases and bucket maps): slice, range or pair (begin, end), half-open.
positions, instead of rows: one row for each, in any order, repeats allowed, negative ones too; real numbers
for tables that take them; [[t, h, w], ...] for tables of several axes.
Errors: OutOfRange past the end, InvalidArgument for parts that the table does not have.)")
      .def("gather",
           [](const PythonClient& self, const py::object& table, const py::object& positions,
              const py::object& timeout) {
             Selection selection;
             PositionsFromPython(positions, selection);
             return Fetch(self, SpecFromPython(table), std::move(selection), timeout);
           },
           py::arg("table"), py::arg("positions"), py::kw_only(), py::arg("timeout") = py::none(),
           "Returns one row for each position; see slice.")
      .def("read_into",
           [](const PythonClient& self, const py::object& table, const py::iterable& destinations,
              const py::object& rows, const py::object& positions, const py::object& columns,
              const py::object& heads, const py::object& keys, const py::object& timeout) {
             ReadInto(self, table, destinations, SelectionFromPython(rows, positions, columns, heads, keys),
                      timeout);
           },
           py::arg("table"), py::arg("destinations"), POSENC_SELECTION_ARGUMENTS,
           R"(Writes a part of a table into writable buffers, one for each tensor in the order of describe.

Errors: InvalidArgument unless there are as many as tensors, each of exactly the tensor's bytes; BufferError
for memory that is read-only or has gaps.)");
}

#undef POSENC_SELECTION_ARGUMENTS

void DefineFamilies(py::module_& module, py::class_<PythonClient>& client) {
  ForEachAlternative<FamilySpec>([&](const auto& standard) {
    const std::string family(standard.kName);
    module.def(family.c_str(), [family](const py::kwargs& fields) { return SpecFromArguments(family, fields); },
               FamilyText(family, "Spec").c_str());
    client.def(family.c_str(), [family](const PythonClient& self, const py::kwargs& arguments) {
                 return FetchFamily(self, family, arguments);
               },
               FamilyText(family, "Table").c_str());
  });
}

}  // namespace

CallOptions CallFromPython(const py::object& timeout) {
  if (timeout.is_none()) return {};
  double seconds = 0.0;
  if (FromPython(timeout, seconds) && seconds > 0) return {.timeout = absl::Seconds(seconds)};
  const std::string text = py::repr(timeout);
  RaiseWrongArgument("timeout", text, "seconds, more than 0, or None",
                     absl::StrCat("timeout is ", text, "; allowed: seconds, more than 0, or None"));
}

ModelQuery ModelQueryFromPython(const std::string& config_json, const std::string& gguf_json,
                                const py::object& runtime, const py::object& effective_length) {
  ModelQuery query{.config_json = config_json, .gguf_json = gguf_json};
  const auto read = [](const std::string& name, const py::object& object, auto& value) {
    if (FromPython(object, value)) return;
    const std::string allowed = AllowedText<std::remove_cvref_t<decltype(value)>>();
    const std::string text = py::repr(object);
    RaiseWrongArgument(name, text, allowed, absl::StrCat(name, " is ", text, "; allowed: ", allowed));
  };
  read("runtime", runtime, query.runtime);
  if (!effective_length.is_none()) read("effective_length", effective_length, query.effective_length.emplace());
  return query;
}

void DefineClient(py::module_& module) {
  py::class_<PythonClient> client(module, "Client",
                                  R"(A client of a service: tables, slices and rows in one call each.

Client("localhost:50051"), Client("dns:///posenc:50051"), Client("unix:/run/posenc.sock"). Any method, any thread;
the GIL is released while a call waits, and Ctrl-C ends it. Keep one for the life of the process. After a fork
make another one in the child.

timeout=30.0           seconds of a call that gives none, and one more for every 8 MiB of its answer
token=""               sent as "authorization: Bearer ..."
tls=False              True, or a dict of PEM texts: root_certificates, certificate_chain, private_key
max_attempts=6         of a call that cannot be delivered, the first one included (2 with fallback)
wait_for_ready=True    whether a retry waits until the server can be reached (False with fallback)
shared_memory=True     maps whole tables of 1 MiB and more out of a server on this host
parallel_streams=2     for whole answers of 32 MiB and more
max_table_bytes        refuses larger answers (64 GiB)
near_cache=0           bytes of a cache of answers in this process; 0: none
fallback=False         computes in this process while the service cannot be reached
source="service"       "verified": computes here and compares checksums with the service;
                       "automatic": whichever is quicker
learned=None           {name: "FILE.safetensors:TENSOR"}: stored tensors for what is computed here

Errors: WrongArgument for options. Connecting begins with the first call.)");
  client
      .def(py::init(&ConnectFromPython), py::arg("target"), py::pos_only())
      .def_property_readonly("target", [](const PythonClient& self) { return self.target; },
                             "The service's address; empty for local().")
      .def("describe", &Describe, py::arg("table"), py::kw_only(), py::arg("content_digest") = false,
           py::arg("timeout") = py::none(),
           "Returns what a table is: key, tensors, sizes, frequencies, error bound. content_digest=True costs "
           "the generation of the whole table.")
      .def("_resolve_model", &ResolveModel)
      .def("stats", &StatsOf, "Returns the counters of near_cache, fallback and verified, those that are there.")
      .def("__repr__", [](const PythonClient& self) {
        return self.target.empty() ? "posenc.local()" : absl::StrCat("posenc.Client('", self.target, "')");
      });
  DefineReads(client);
  DefineFamilies(module, client);
  module.def("local", &LocalFromPython,
             R"(Returns a client that computes in this process: the same bytes and errors, no server.

near_cache=0      bytes of a cache of answers; 0: none
learned=None      {name: "FILE.safetensors:TENSOR"}: the stored tensors of learned tables)");
}

}  // namespace posenc::python
