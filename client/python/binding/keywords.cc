#include "client/python/binding/keywords.h"

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/python/binding/python_values.h"
#include "server/core/specs/field.h"

namespace posenc::python {
namespace {

namespace py = pybind11;

std::string Literal(const std::vector<std::string>& names) {
  return absl::StrCat("Literal['", absl::StrJoin(names, "', '"), "']");
}

template <typename T>
std::string Annotation() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, int64_t>) return "int";
  if constexpr (std::is_same_v<T, double>) return "float";
  if constexpr (std::is_same_v<T, std::string>) return "str";
  if constexpr (std::is_same_v<T, std::vector<int64_t>>) return "Sequence[int]";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "Sequence[float]";
  if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> names;
    for (absl::string_view name : AllNames<T>()) names.emplace_back(name);
    return Literal(names);
  }
}

class Collector {
 public:
  explicit Collector(std::vector<Keyword>& out) : out_(out) {}

  template <Record T>
  void Collect(const std::string& prefix, const T& record, bool optional) {
    T::Fields(record, [&](const Field& field, const auto& value) {
      CollectValue(prefix, field, value, optional);
    });
  }

 private:
  template <typename T>
  void CollectValue(const std::string& prefix, const Field& field, const T& value, bool optional) {
    const std::string name = absl::StrCat(prefix, field.name);
    if constexpr (kIsOptional<T>) {
      using Value = typename T::value_type;
      if constexpr (Record<Value>) {
        Collect(name + "_", Value(), /*optional=*/true);
      } else {
        Add<Value>(name, field, py::none(), /*optional=*/true);
      }
    } else if constexpr (Record<T>) {
      Collect(name + "_", value, optional);
    } else if constexpr (kIsVariant<T>) {
      CollectVariant(prefix, name, field, value);
    } else {
      // A field of an absent record has a default only once the record is there.
      Add<T>(name, field, optional || field.required ? py::none() : ToPython(value), optional);
    }
  }

  template <typename Variant>
  void CollectVariant(const std::string& prefix, const std::string& name, const Field& field,
                      const Variant& value) {
    out_.push_back({.name = name,
                    .type = Literal(AlternativeNames<Variant>()),
                    .help = std::string(field.help),
                    .standard = py::str(Dashed(AlternativeName(value)))});
    ForEachAlternative<Variant>([&](const auto& alternative) {
      std::vector<Keyword> own;
      Collector(own).Collect(prefix, alternative, /*optional=*/true);
      for (Keyword& keyword : own) {
        AddOfAlternative(std::move(keyword), absl::StrCat(name, "='", Dashed(alternative.kName), "'"));
      }
    });
  }

  void AddOfAlternative(Keyword keyword, const std::string& alternative) {
    const auto same = absl::c_find_if(out_, [&](const Keyword& other) { return other.name == keyword.name; });
    if (same == out_.end()) {
      keyword.alternatives = {alternative};
      out_.push_back(std::move(keyword));
    } else {
      same->alternatives.push_back(alternative);
    }
  }

  template <typename T>
  void Add(const std::string& name, const Field& field, py::object standard, bool optional) {
    const std::string type = Annotation<T>();
    out_.push_back({.name = name,
                    .type = optional ? absl::StrCat("Optional[", type, "]") : type,
                    .help = std::string(field.help),
                    .standard = std::move(standard),
                    .required = field.required && !optional});
  }

  std::vector<Keyword>& out_;
};

}  // namespace

std::vector<Keyword> KeywordsOf(const FamilySpec& family) {
  std::vector<Keyword> keywords;
  std::visit([&](const auto& spec) { Collector(keywords).Collect("", spec, /*optional=*/false); },
             FamilySpec(family));
  return keywords;
}

std::string AllowedKeywords(const FamilySpec& family, const std::string& wrong) {
  std::vector<std::string> names;
  for (const Keyword& keyword : KeywordsOf(family)) {
    if (keyword.name == wrong && !keyword.alternatives.empty()) {
      return absl::StrCat("with ", absl::StrJoin(keyword.alternatives, ", "));
    }
    names.push_back(keyword.name);
  }
  names.push_back("dtype");
  names.push_back("arithmetic");
  return absl::StrJoin(names, ", ");
}

py::list KeywordDicts(const std::string& family) {
  FamilySpec spec;
  VisitAlternative<FamilySpec>(family, [&](auto&& standard) { spec = standard; });
  py::list dicts;
  for (const Keyword& keyword : KeywordsOf(spec)) {
    py::dict dict;
    dict["name"] = keyword.name;
    dict["type"] = keyword.type;
    dict["help"] = keyword.help;
    dict["default"] = keyword.standard;
    dict["required"] = keyword.required;
    py::list alternatives;
    for (const std::string& alternative : keyword.alternatives) alternatives.append(alternative);
    dict["alternatives"] = alternatives;
    dicts.append(dict);
  }
  return dicts;
}

}  // namespace posenc::python
