// Values of spec fields as Python objects, both ways. What a field is decides what is taken: a bool is no
// number, a float no integer, a text no list.
//
// Threads: the calling one, which holds the GIL.

#ifndef POSENC_CLIENT_PYTHON_BINDING_PYTHON_VALUES_H_
#define POSENC_CLIENT_PYTHON_BINDING_PYTHON_VALUES_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "posenc/specs.h"
#include "pybind11/pybind11.h"
#include "server/core/names.h"
#include "server/core/specs/field.h"

namespace posenc::python {

// "head-dim" for "head_dim": how names of enums and alternatives are written.
inline std::string Dashed(absl::string_view name) { return absl::StrReplaceAll(name, {{"_", "-"}}); }

// What may stand for a field of the type, in words.
template <typename T>
std::string AllowedText() {
  if constexpr (std::is_same_v<T, bool>) return "True or False";
  if constexpr (std::is_same_v<T, int64_t>) return "an integer of at most 64 bits";
  if constexpr (std::is_same_v<T, double>) return "a number";
  if constexpr (std::is_same_v<T, std::string>) return "a str";
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return "a sequence of integers";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "a sequence of numbers";
  if constexpr (std::is_enum_v<T>) return absl::StrJoin(AllNames<T>(), ", ");
}

// Reads a Python object into a field's value; false where it is none of the kind.
template <typename T>
bool FromPython(pybind11::handle object, T& value) {
  namespace py = pybind11;
  if constexpr (kIsList<T>) {
    if (py::isinstance<py::str>(object) || !py::isinstance<py::iterable>(object)) return false;
    value.clear();
    for (py::handle entry : py::reinterpret_borrow<py::iterable>(object)) {
      if (!FromPython(entry, value.emplace_back())) return false;
    }
    return true;
  } else if constexpr (std::is_enum_v<T>) {
    if (!py::isinstance<py::str>(object)) return false;
    const absl::StatusOr<T> parsed = ParseName<T>(object.cast<std::string>());
    if (parsed.ok()) value = *parsed;
    return parsed.ok();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!py::isinstance<py::str>(object)) return false;
    value = object.cast<std::string>();
    return true;
  } else {
    if (!std::is_same_v<T, bool> && PyBool_Check(object.ptr())) return false;
    // With conversion a str is still no number, and for the others it would be too much: floats as
    // integers, anything as a bool.
    py::detail::make_caster<T> caster;
    if (!caster.load(object, std::is_same_v<T, double>)) return false;
    value = py::detail::cast_op<T>(caster);
    return true;
  }
}

// Returns a field's value as Python has it: names of enums as str.
template <typename T>
pybind11::object ToPython(const T& value) {
  namespace py = pybind11;
  if constexpr (kIsList<T>) {
    py::list list;
    for (const auto& entry : value) list.append(ToPython(entry));
    return list;
  } else if constexpr (std::is_enum_v<T>) {
    return py::str(std::string(NameOf(value)));
  } else {
    return py::cast(value);
  }
}

}  // namespace posenc::python

#endif  // POSENC_CLIENT_PYTHON_BINDING_PYTHON_VALUES_H_
