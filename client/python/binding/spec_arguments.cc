#include "client/python/binding/spec_arguments.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/python/binding/errors.h"
#include "client/python/binding/keywords.h"
#include "client/python/binding/python_values.h"
#include "server/core/names.h"
#include "server/core/specs/field.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

std::string Repr(py::handle object) { return py::repr(object).cast<std::string>(); }

// The arguments of one call, and which of them were taken.
class Given {
 public:
  // `family` is for messages: what else could have been given.
  Given(const py::dict& arguments, const FamilySpec& family) : arguments_(arguments), family_(family) {}

  // Returns the value of a keyword, or a null handle.
  py::handle Take(const std::string& keyword) {
    PyObject* const value = PyDict_GetItemString(arguments_.ptr(), keyword.c_str());
    if (value != nullptr) taken_.insert(keyword);
    return value;
  }

  bool Has(const std::string& keyword) const { return arguments_.contains(keyword.c_str()); }

  bool HasPrefix(const std::string& prefix) const {
    for (const auto& [key, value] : arguments_) {
      if (!value.is_none() && key.cast<std::string>().starts_with(prefix)) return true;
    }
    return false;
  }

  // Raises for the first argument that nothing took; None of an alternative that was not chosen asks for nothing.
  void RequireAllTaken() const {
    for (const auto& [key, value] : arguments_) {
      const std::string keyword = key.cast<std::string>();
      if (taken_.contains(keyword) || (value.is_none() && IsKeyword(keyword))) continue;
      Refuse(keyword, value);
    }
  }

  // Raises for a missing field; a keyword that is none says more, since it is what was meant.
  [[noreturn]] void RaiseMissing(const std::string& keyword, const std::string& help) const {
    for (const auto& [key, value] : arguments_) {
      const std::string name = key.cast<std::string>();
      if (name != "dtype" && name != "arithmetic" && !IsKeyword(name)) Refuse(name, value);
    }
    RaiseWrongArgument(keyword, "", help, absl::StrCat(keyword, " is missing: ", help));
  }

 private:
  bool IsKeyword(const std::string& name) const {
    for (const Keyword& keyword : KeywordsOf(family_)) {
      if (keyword.name == name) return true;
    }
    return false;
  }

  [[noreturn]] void Refuse(const std::string& keyword, py::handle value) const {
    const std::string allowed = AllowedKeywords(family_, keyword);
    RaiseWrongArgument(keyword, Repr(value), allowed,
                       absl::StrCat(FamilyName(family_), " has no keyword '", keyword, "' here; allowed: ", allowed));
  }

  const py::dict& arguments_;
  const FamilySpec family_;
  std::set<std::string> taken_;
};

template <typename T>
void Read(const std::string& keyword, py::handle object, T& value) {
  if (FromPython(object, value)) return;
  RaiseWrongArgument(keyword, Repr(object), AllowedText<T>(),
                     absl::StrCat(keyword, " is ", Repr(object), "; allowed: ", AllowedText<T>()));
}

// Sets what keywords say in records.
class Setter {
 public:
  // `complete`: the record is in need of nothing, as one that was there already.
  Setter(Given& given, bool complete) : given_(given), complete_(complete) {}

  template <Record T>
  void Set(const std::string& prefix, T& record) {
    T::Fields(record, [&](const Field& field, auto& value) {
      SetValue(prefix, absl::StrCat(prefix, field.name), field, value);
    });
  }

 private:
  template <typename T>
  void SetValue(const std::string& prefix, const std::string& keyword, const Field& field, T& value) {
    if constexpr (kIsOptional<T>) {
      SetOptional(keyword, value);
    } else if constexpr (kIsVariant<T>) {
      SetVariant(prefix, keyword, value);
    } else if constexpr (Record<T>) {
      Set(keyword + "_", value);
    } else if (const py::handle object = given_.Take(keyword); object && !object.is_none()) {
      Read(keyword, object, value);
    } else if (field.required && !complete_) {
      given_.RaiseMissing(keyword, std::string(field.help));
    }
  }

  template <typename T>
  void SetOptional(const std::string& keyword, std::optional<T>& value) {
    if constexpr (Record<T>) {
      const bool none = given_.Has(keyword) && given_.Take(keyword).is_none();
      if (none) value.reset();
      if (!given_.HasPrefix(keyword + "_")) return;
      Setter(given_, complete_ && value.has_value()).Set(keyword + "_", value ? *value : value.emplace());
    } else if (const py::handle object = given_.Take(keyword)) {
      if (object.is_none()) {
        value.reset();
      } else {
        Read(keyword, object, value.emplace());
      }
    }
  }

  template <typename Variant>
  void SetVariant(const std::string& prefix, const std::string& keyword, Variant& value) {
    bool complete = complete_;
    if (const py::handle object = given_.Take(keyword)) {
      const std::string name =
          object.is_none() ? "none" : Dashed(absl::AsciiStrToLower(py::str(object).cast<std::string>()));
      if (name != Dashed(AlternativeName(value))) {
        complete = false;
        Choose(keyword, name, value);
      }
    } else if (!complete_ || AlternativeName(value) == "none") {
      ChooseSole(prefix, value);
    }
    std::visit(
        [&]<typename Alternative>(Alternative& alternative) {
          if constexpr (!std::is_same_v<Alternative, std::monostate>) {
            Setter(given_, complete).Set(prefix, alternative);
          }
        },
        value);
  }

  template <typename Variant>
  void Choose(const std::string& keyword, const std::string& name, Variant& value) {
    if constexpr (kMayBeNone<Variant>) {
      if (name == "none") {
        value = std::monostate();
        return;
      }
    }
    const auto set = [&](auto&& alternative) { value = alternative; };
    if (VisitAlternative<Variant>(absl::StrReplaceAll(name, {{"-", "_"}}), set)) return;
    const std::string allowed = absl::StrJoin(AlternativeNames<Variant>(), ", ");
    RaiseWrongArgument(keyword, absl::StrCat("'", name, "'"), allowed,
                       absl::StrCat(keyword, " is '", name, "'; allowed: ", allowed));
  }

  // Chooses the alternative whose only field was given, where no other one has it.
  template <typename Variant>
  void ChooseSole(const std::string& prefix, Variant& value) {
    std::map<std::string, int> counts;
    ForEachAlternative<Variant>([&](const auto& alternative) {
      for (const std::string& keyword : KeywordNames(prefix, alternative)) ++counts[keyword];
    });
    ForEachAlternative<Variant>([&](const auto& alternative) {
      const std::vector<std::string> own = KeywordNames(prefix, alternative);
      if (own.size() == 1 && counts[own[0]] == 1 && given_.Has(own[0])) value = alternative;
    });
  }

  template <Record T>
  static std::vector<std::string> KeywordNames(const std::string& prefix, const T& record) {
    std::vector<std::string> names;
    T::Fields(record, [&](const Field& field, const auto&) { names.push_back(absl::StrCat(prefix, field.name)); });
    return names;
  }

  Given& given_;
  const bool complete_;
};

// Writes records as keywords.
class Writer {
 public:
  Writer(py::dict& out, bool with_defaults) : out_(out), with_defaults_(with_defaults) {}

  template <Record T>
  void Write(const std::string& prefix, const T& record) {
    const T standard = T();
    T::Fields(record, [&]<typename Value>(const Field& field, const Value& value) {
      // Fields gives no member pointers, so that the default is found by a walk of its own.
      T::Fields(standard, [&]<typename Other>(const Field& other, const Other& default_value) {
        if constexpr (std::is_same_v<Value, Other>) {
          if (other.name == field.name) WriteValue(prefix, field, value, default_value);
        }
      });
    });
  }

 private:
  template <typename T>
  void WriteValue(const std::string& prefix, const Field& field, const T& value, const T& standard) {
    const std::string keyword = absl::StrCat(prefix, field.name);
    if constexpr (kIsVariant<T>) {
      if (with_defaults_ || value.index() != standard.index()) {
        out_[keyword.c_str()] = Dashed(AlternativeName(value));
      }
      std::visit(
          [&]<typename Alternative>(const Alternative& alternative) {
            if constexpr (!std::is_same_v<Alternative, std::monostate>) Write(prefix, alternative);
          },
          value);
    } else if constexpr (kIsOptional<T>) {
      if constexpr (Record<typename T::value_type>) {
        if (value) Writer(out_, /*with_defaults=*/true).Write(keyword + "_", *value);
      } else if (value) {
        out_[keyword.c_str()] = ToPython(*value);
      }
    } else if constexpr (Record<T>) {
      Write(keyword + "_", value);
    } else if (with_defaults_ || field.required || value != standard) {
      out_[keyword.c_str()] = ToPython(value);
    }
  }

  py::dict& out_;
  const bool with_defaults_;
};

TableSpec Apply(TableSpec spec, const py::dict& arguments, bool complete) {
  Given given(arguments, spec.family);
  if (const py::handle dtype = given.Take("dtype")) {
    spec.element_type = dtype.is_none() ? ElementType::kUnspecified : ElementTypeFromPython(dtype);
  }
  if (const py::handle arithmetic = given.Take("arithmetic")) Read("arithmetic", arithmetic, spec.arithmetic);
  std::visit([&](auto& family) { Setter(given, complete).Set("", family); }, spec.family);
  given.RequireAllTaken();
  return spec;
}

}  // namespace

TableSpec SpecFromArguments(const std::string& family, const py::dict& arguments) {
  TableSpec spec;
  const auto set = [&](auto&& standard) { spec.family = standard; };
  if (!VisitAlternative<FamilySpec>(absl::StrReplaceAll(family, {{"-", "_"}}), set)) {
    const std::string allowed = absl::StrJoin(AllFamilyNames(), ", ");
    RaiseWrongArgument("family", absl::StrCat("'", family, "'"), allowed,
                       absl::StrCat("family is '", family, "'; allowed: ", allowed));
  }
  return Apply(std::move(spec), arguments, /*complete=*/false);
}

TableSpec SpecWithArguments(TableSpec spec, const py::dict& arguments) {
  return Apply(std::move(spec), arguments, /*complete=*/true);
}

py::dict ArgumentsOf(const TableSpec& spec, bool with_defaults) {
  py::dict out;
  std::visit([&](const auto& family) { Writer(out, with_defaults).Write("", family); }, spec.family);
  if (spec.element_type != ElementType::kUnspecified) {
    out["dtype"] = std::string(ElementTypeName(spec.element_type));
  }
  if (with_defaults || spec.arithmetic != Arithmetic::kExact) out["arithmetic"] = ToPython(spec.arithmetic);
  return out;
}

ElementType ElementTypeFromPython(py::handle dtype) {
  std::string name;
  if (py::isinstance<py::str>(dtype)) {
    name = dtype.cast<std::string>();
  } else if (py::hasattr(dtype, "__name__")) {  // numpy.float32, ml_dtypes.bfloat16
    name = py::str(dtype.attr("__name__"));
  } else {  // numpy.dtype("float32"), torch.bfloat16
    name = py::str(dtype);
    name = name.substr(name.rfind('.') + 1);
  }
  const absl::StatusOr<ElementType> type = ParseElementType(name);
  if (type.ok()) return *type;
  const std::string allowed = "F64, F32, F16, BF16, I32, as a name or a dtype";
  RaiseWrongArgument("dtype", Repr(dtype), allowed, absl::StrCat("dtype is ", Repr(dtype), "; allowed: ", allowed));
}

py::list FamilyNames() {
  py::list names;
  for (absl::string_view name : AllFamilyNames()) names.append(std::string(name));
  return names;
}

}  // namespace posenc::python
