#include "client/cli/flags/field_text.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace posenc::cli {
namespace {

// Lists the fields of records.
class Lister {
 public:
  explicit Lister(std::vector<SpecField>& fields) : fields_(fields) {}

  // `standard` has every field at its default. `prefix` is what flags begin with, after the dashes.
  template <Record T>
  void List(const std::string& path, const std::string& prefix, const T& record, const T& standard) {
    T::Fields(record, [&]<typename Value>(const Field& field, const Value& value) {
      // Fields gives no member pointers, so that the default is found by a walk of its own.
      T::Fields(standard, [&]<typename Other>(const Field& other, const Other& default_value) {
        if constexpr (std::is_same_v<Value, Other>) {
          if (other.name == field.name) ListValue(path, prefix, field, value, default_value);
        }
      });
    });
  }

 private:
  template <typename T>
  void ListValue(const std::string& parent, const std::string& prefix, const Field& field, const T& value,
                 const T& standard) {
    const std::string path = absl::StrCat(parent, ".", field.name);
    const std::string flag = absl::StrCat(prefix, Dashed(field.name));
    if constexpr (kIsVariant<T>) {
      fields_.push_back({.path = path,
                         .flag = absl::StrCat("--", flag),
                         .text = Dashed(AlternativeName(value)),
                         .is_default = value.index() == standard.index()});
      ListAlternative(parent, prefix, value);
    } else if constexpr (kIsOptional<T>) {
      using Value = typename T::value_type;
      if constexpr (Record<Value>) {
        if (value) List(path, flag + "-", *value, Value());
      } else if (value) {
        Add(path, flag, *value, /*is_default=*/false);
      }
    } else if constexpr (Record<T>) {
      List(path, flag + "-", value, standard);
    } else {
      Add(path, flag, value, value == standard && !field.required);
    }
  }

  template <typename Variant>
  void ListAlternative(const std::string& parent, const std::string& prefix, const Variant& variant) {
    std::visit(
        [&]<typename Alternative>(const Alternative& alternative) {
          if constexpr (!std::is_same_v<Alternative, std::monostate>) {
            List(absl::StrCat(parent, ".", Alternative::kName), prefix, alternative, Alternative());
          }
        },
        variant);
  }

  template <typename T>
  void Add(const std::string& path, const std::string& flag, const T& value, bool is_default) {
    fields_.push_back({.path = path,
                       .flag = absl::StrCat("--", flag),
                       .text = ValueText(value),
                       .is_default = is_default,
                       .is_switch = std::is_same_v<T, bool>});
  }

  std::vector<SpecField>& fields_;
};

}  // namespace

std::string Dashed(absl::string_view name) { return absl::StrReplaceAll(name, {{"_", "-"}}); }

std::vector<SpecField> SpecFieldsOf(const TableSpec& spec) {
  std::vector<SpecField> fields;
  std::visit(
      [&]<typename Family>(const Family& family) {
        Lister(fields).List(std::string(Family::kName), "", family, Family());
      },
      spec.family);
  const bool usual_type =
      spec.element_type == ElementType::kUnspecified || spec.element_type == ElementType::kF32;
  fields.push_back({.path = "element_type",
                    .flag = "--dtype",
                    .text = std::string(ElementTypeName(spec.element_type)),
                    .is_default = usual_type});
  fields.push_back({.path = "arithmetic",
                    .flag = "--arithmetic",
                    .text = ValueText(spec.arithmetic),
                    .is_default = spec.arithmetic == Arithmetic::kExact});
  return fields;
}

std::string SpecCommand(const TableSpec& spec) {
  std::string text = Dashed(FamilyName(spec.family));
  for (const SpecField& field : SpecFieldsOf(spec)) {
    if (field.is_default) continue;
    absl::StrAppend(&text, " ", field.flag);
    if (field.is_switch) {
      absl::StrAppend(&text, field.text == "true" ? "" : "=false");
    } else {
      absl::StrAppend(&text, " ", field.text.empty() ? "''" : field.text);
    }
  }
  return text;
}

std::string Shortened(const std::string& text, size_t most_characters) {
  if (text.size() <= most_characters) return text;
  return absl::StrCat(text.substr(0, most_characters), "... (", text.size() - most_characters,
                      " characters more)");
}

absl::StatusOr<FamilySpec> FamilyByName(absl::string_view name) {
  FamilySpec family;
  const std::string underscored = absl::StrReplaceAll(name, {{"-", "_"}});
  const auto set = [&](auto&& found) { family = found; };
  if (VisitAlternative<FamilySpec>(underscored, set)) return family;
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is no family; allowed: ", absl::StrJoin(FamilyCommands(), ", ")));
}

std::vector<std::string> FamilyCommands() {
  std::vector<std::string> commands;
  for (absl::string_view name : AllFamilyNames()) commands.push_back(Dashed(name));
  return commands;
}

}  // namespace posenc::cli
