#include "client/python/binding/specs.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "client/python/binding/errors.h"
#include "client/python/binding/keywords.h"
#include "client/python/binding/spec_arguments.h"
#include "server/core/names.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

std::string Text(const TableSpec& spec) {
  std::string text = absl::StrCat("posenc.", FamilyName(spec.family), "(");
  const char* separator = "";
  for (const auto& [keyword, value] : ArgumentsOf(spec, /*with_defaults=*/false)) {
    absl::StrAppend(&text, separator, py::str(keyword).cast<std::string>(), "=",
                    py::repr(value).cast<std::string>());
    separator = ", ";
  }
  return text + ")";
}

}  // namespace

const TableSpec& SpecFromPython(py::handle table) {
  if (!py::isinstance<TableSpec>(table) && py::hasattr(table, "spec")) {
    return table.attr("spec").cast<const TableSpec&>();
  }
  if (py::isinstance<TableSpec>(table)) return table.cast<const TableSpec&>();
  const std::string given = py::repr(table).cast<std::string>();
  const std::string allowed = "a Spec, as of posenc.rope(...), or a table of Client.model";
  RaiseWrongArgument("spec", given, allowed, absl::StrCat("spec is ", given, "; allowed: ", allowed));
}

void DefineSpecs(py::module_& module) {
  py::class_<TableSpec>(module, "Spec", R"(What table a caller wants; a value.

Made by the functions of the families (posenc.rope, posenc.sinusoidal, ...) and by Client.model. Ranges are checked
where the table is made.)")
      .def(py::init([](const std::string& family, const py::kwargs& fields) {
             return SpecFromArguments(family, fields);
           }),
           py::arg("family"), py::pos_only(),
           "Spec('rope', head_dim=128) is posenc.rope(head_dim=128). Errors: WrongArgument.")
      .def_property_readonly("family", [](const TableSpec& self) { return std::string(FamilyName(self.family)); },
                             "Name of the family: \"rope\", \"sinusoidal\", ...")
      .def_property_readonly("arguments", [](const TableSpec& self) { return ArgumentsOf(self, false); },
                             "The keywords that make this spec: those that are required or not at their defaults.")
      .def_property_readonly("fields", [](const TableSpec& self) { return ArgumentsOf(self, true); },
                             "All keywords, those at their defaults as well.")
      .def("replace", [](const TableSpec& self, const py::kwargs& fields) { return SpecWithArguments(self, fields); },
           "Returns a spec with some fields (or dtype, arithmetic) set anew. Errors: WrongArgument.")
      .def("__eq__", [](const TableSpec& self, const py::object& other) {
        if (!py::isinstance<TableSpec>(other)) return false;
        const auto& spec = other.cast<const TableSpec&>();
        return FamilyName(self.family) == FamilyName(spec.family) &&
               ArgumentsOf(self, true).equal(ArgumentsOf(spec, true));
      })
      .def("__hash__", [](const TableSpec& self) { return py::hash(py::str(Text(self))); })
      .def(py::pickle(
          [](const TableSpec& self) {
            return py::make_tuple(std::string(FamilyName(self.family)), ArgumentsOf(self, false));
          },
          [](const py::tuple& state) {
            return SpecFromArguments(state[0].cast<std::string>(), state[1].cast<py::dict>());
          }))
      .def("__repr__", &Text);
  module.def("_keywords", &KeywordDicts);
  module.def("_families", &FamilyNames);
}

}  // namespace posenc::python
