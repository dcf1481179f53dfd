#include "client/python/binding/models.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/python/binding/errors.h"
#include "posenc/client.h"
#include "pybind11/stl.h"
#include "server/core/names.h"
#include "server/models/gguf/gguf.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

template <typename T>
py::tuple Tuple(const std::vector<T>& values) {
  py::tuple tuple(values.size());
  for (size_t i = 0; i < values.size(); ++i) tuple[i] = values[i];
  return tuple;
}

const char* PairingText(Pairing pairing) {
  switch (pairing) {
    case Pairing::kHalfSplit:
      return "half-split";
    case Pairing::kInterleaved:
      return "interleaved";
    case Pairing::kNone:
      break;
  }
  return "none";
}

std::vector<std::string> NamesOf(const ModelTables& model) {
  std::vector<std::string> names;
  for (const ModelTable& table : model.tables) names.push_back(table.name);
  return names;
}

const ModelTable& Named(const ModelTables& model, const std::string& name) {
  for (const ModelTable& table : model.tables) {
    if (table.name == name) return table;
  }
  throw py::key_error(
      absl::StrCat("'", name, "' is no table of this model; it has: ", absl::StrJoin(NamesOf(model), ", ")));
}

void DefineOrigin(py::module_& module) {
  py::class_<ValueOrigin>(module, "Origin", "Where one value of a table's spec came from.")
      .def_readonly("field", &ValueOrigin::field, "Spec field, such as \"rope.base\".")
      .def_readonly("value", &ValueOrigin::value, "The value as text.")
      .def_readonly("source", &ValueOrigin::source, "The file's key, or the default: \"rope_theta\", ...")
      .def_readonly("defaulted", &ValueOrigin::defaulted, "True when the file does not say it.")
      .def_readonly("assumed", &ValueOrigin::assumed,
                    "True when no known class or runtime says it either: it may be wrong.")
      .def("__repr__", [](const ValueOrigin& self) {
        return absl::StrCat("<posenc.Origin ", self.field, " ", self.value, ": ", self.source, ">");
      });
}

void DefineModelTable(py::module_& module) {
  py::class_<ModelTable>(module, "ModelTable", "One table of a model; Client.get and Client.slice take it as a Spec.")
      .def_readonly("name", &ModelTable::name, "\"main\", or the layer type where a model has several.")
      .def_property_readonly("spec", [](const ModelTable& self) -> const TableSpec& { return self.spec; },
                             py::return_value_policy::reference_internal,
                             "The Spec: F32, the default layout. spec.replace(layout=..., dtype=...) has others.")
      .def_property_readonly("pairing", [](const ModelTable& self) { return PairingText(self.pairing); },
                             "\"half-split\": channels (i, i + rotary_dim / 2) form a pair; \"interleaved\": "
                             "(2i, 2i + 1); \"none\": not a rotary table.")
      .def_readonly("softmax_scale", &ModelTable::softmax_scale, "Factor on the scores besides 1/sqrt(head_dim).")
      .def_readonly("magnitude", &ModelTable::magnitude, "Factor on cos and sin that is already in the table.")
      .def_readonly("rotary_begin", &ModelTable::rotary_begin, "First channel of a head that rotates.")
      .def_readonly("applies_to", &ModelTable::applies_to, "Which layers or parts use the table; empty: all.")
      .def_property_readonly("layers", [](const ModelTable& self) { return Tuple(self.layers); },
                             "The same as indices from 0; empty where the file does not say how many there are.")
      .def_property_readonly("origins", [](const ModelTable& self) { return Tuple(self.origins); },
                             "An Origin for every value.")
      .def("__repr__", [](const ModelTable& self) {
        return absl::StrCat("<posenc.ModelTable ", self.name, ": ",
                            py::repr(py::cast(self.spec)).cast<std::string>(), ">");
      });
}

}  // namespace

void DefineModels(py::module_& module) {
  DefineOrigin(module);
  DefineModelTable(module);
  py::class_<ModelTables>(module, "ModelTables", "What a model's file means: a mapping from names to its tables.")
      .def_readonly("model_type", &ModelTables::model_type, "As in the file; empty where it has none.")
      .def_readonly("known_family", &ModelTables::known_family, "Whether the model's family is in the list.")
      .def_property_readonly("notes", [](const ModelTables& self) { return Tuple(self.notes); },
                             "Warnings, assumptions, what is not certain.")
      .def_property_readonly(
          "layers_without_table", [](const ModelTables& self) { return Tuple(self.layers_without_table); },
          "Layers that have none of the tables, where others have one.")
      .def("keys", [](const ModelTables& self) { return Tuple(NamesOf(self)); }, "Names of the tables.")
      .def("__getitem__", &Named, py::arg("name"), py::return_value_policy::reference_internal,
           "Returns a table. Errors: KeyError that lists the names.")
      .def("__len__", [](const ModelTables& self) { return self.tables.size(); })
      .def("__iter__", [](const ModelTables& self) { return py::iter(Tuple(NamesOf(self))); })
      .def("__contains__", [](const ModelTables& self, const std::string& name) {
        for (const ModelTable& table : self.tables) {
          if (table.name == name) return true;
        }
        return false;
      })
      .def("__repr__", [](const ModelTables& self) {
        return absl::StrCat("<posenc.ModelTables ", self.model_type, ": ", absl::StrJoin(NamesOf(self), ", "), ">");
      });
  module.def("_gguf_json", [](const std::string& path) {
    py::gil_scoped_release released;
    absl::StatusOr<GgufFile> file = ReadGguf(path);
    py::gil_scoped_acquire acquired;
    return GgufToJson(ValueOrRaise(std::move(file)));
  });
}

void DefineDescription(py::module_& module) {
  using D = TableDescription;
  py::class_<D>(module, "Description", "What a table is, without its numbers.")
      .def_readonly("key", &D::key, "64 hex digits: the table's identity.")
      .def_property_readonly("spec", [](const D& self) -> const TableSpec& { return self.spec; },
                             py::return_value_policy::reference_internal, "The Spec, normalised.")
      .def_readonly("canonical_text", &D::canonical_text, "What the key is the SHA-256 of.")
      .def_property_readonly("tensors", [](const D& self) {
        py::dict tensors;
        for (const TensorInfo& info : self.tensors) {
          const std::string dtype(ElementTypeName(info.element_type));
          tensors[info.name.c_str()] = py::make_tuple(dtype, Tuple(info.shape));
        }
        return tensors;
      }, "{name: (dtype, shape)}, in the order of the wire.")
      .def_property_readonly("content_sha256", [](const D& self) {
        py::dict digests;
        for (const TensorInfo& info : self.tensors) digests[info.name.c_str()] = info.content_sha256;
        return digests;
      }, "{name: 64 hex digits} where content_digest=True was asked for, else empty texts.")
      .def_readonly("nbytes", &D::size_bytes, "Bytes of all tensors; 2**64 - 1 for more.")
      .def_readonly("rows", &D::rows, "Rows of the table.")
      .def_readonly("rows_per_block", &D::rows_per_block, "Rows generated and cached together.")
      .def_property_readonly("inverse_frequencies", [](const D& self) { return Tuple(self.inverse_frequencies); },
                             "Radians per position, one for each pair.")
      .def_property_readonly("slopes", [](const D& self) { return Tuple(self.slopes); }, "ALiBi's, one for each head.")
      .def_readonly("magnitude", &D::magnitude, "Factor on cos and sin, already in the table.")
      .def_readonly("softmax_scale", &D::softmax_scale, "Factor on the scores besides 1/sqrt(head_dim).")
      .def_readonly("error_bound", &D::error_bound, "How far the numbers are from the formula at most.")
      .def_property_readonly(
          "positions", [](const D& self) { return py::make_tuple(self.positions_begin, self.positions_end); },
          "(begin, end) of the positions that gather takes.")
      .def_property_readonly("notes", [](const D& self) { return Tuple(self.notes); }, "What else is to be known.")
      .def_property_readonly("axis_of_pair", [](const D& self) { return Tuple(self.axis_of_pair); },
                             "Position axis of each rotated pair; empty with one axis.")
      .def_readonly("position_axes", &D::position_axes, "Coordinates of one position.")
      .def_readonly("real_positions", &D::real_positions, "Whether real positions are taken.")
      .def("__repr__", [](const D& self) { return absl::StrCat("<posenc.Description ", self.canonical_text, ">"); });
}

}  // namespace posenc::python
