#include "client/cli/flags/field_flags.h"

#include <optional>
#include <set>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "client/cli/flags/field_text.h"
#include "client/cli/flags/parse.h"
#include "server/core/names.h"
#include "server/core/specs/field.h"

namespace posenc::cli {
namespace {

template <typename Variant>
constexpr bool kMayBeNone = std::is_same_v<std::variant_alternative_t<0, Variant>, std::monostate>;

template <typename Variant>
std::vector<std::string> AlternativeNames() {
  std::vector<std::string> names;
  if (kMayBeNone<Variant>) names.push_back("none");
  ForEachAlternative<Variant>([&](const auto& alternative) { names.push_back(Dashed(alternative.kName)); });
  return names;
}

// Makes the alternative of that name. Errors: InvalidArgument that lists the names.
template <typename Variant>
absl::Status ParseAlternative(const std::string& text, Variant& variant) {
  const std::string name = absl::StrReplaceAll(absl::AsciiStrToLower(text), {{"-", "_"}});
  if constexpr (kMayBeNone<Variant>) {
    if (name == "none") {
      variant = std::monostate();
      return absl::OkStatus();
    }
  }
  const auto set = [&](auto&& alternative) { variant = alternative; };
  if (VisitAlternative<Variant>(name, set)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is unknown; allowed: ", absl::StrJoin(AlternativeNames<Variant>(), ", ")));
}

template <typename T>
absl::Status Assign(absl::StatusOr<T> parsed, T& value) {
  if (parsed.ok()) value = *std::move(parsed);
  return parsed.status();
}

template <typename T>
absl::Status ParseValue(const std::string& text, T& value) {
  if constexpr (kIsVariant<T>) {
    return ParseAlternative(text, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = text;
    return absl::OkStatus();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = text == "true";
    return absl::OkStatus();
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Assign(ParseInteger(text), value);
  } else if constexpr (std::is_same_v<T, double>) {
    return Assign(ParseDouble(text), value);
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    return Assign(ParsePositions(text), value);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return Assign(ParseDoubles(text), value);
  } else {
    return Assign(ParseName<T>(text), value);
  }
}

template <typename T>
std::string CheckValue(const std::string& text) {
  T value;
  return std::string(ParseValue(text, value).message());
}

template <typename T>
std::string TypeOf() {
  if constexpr (std::is_same_v<T, bool>) return "";
  if constexpr (std::is_same_v<T, int64_t>) return "N";
  if constexpr (std::is_same_v<T, double>) return "NUMBER";
  if constexpr (std::is_same_v<T, std::string>) return "TEXT";
  return kIsList<T> ? "LIST" : "NAME";
}

// "none (default), linear, …".
std::string NamesText(const std::vector<std::string>& names, const std::string& standard) {
  return absl::StrJoin(names, ", ", [&](std::string* out, const std::string& name) {
    absl::StrAppend(out, name, name == standard ? " (default)" : "");
  });
}

// The names that a flag takes, behind its help.
template <typename T>
std::string NamesOf(const T* standard) {
  if constexpr (std::is_enum_v<T>) {
    std::vector<std::string> names;
    for (absl::string_view name : AllNames<T>()) names.emplace_back(name);
    return absl::StrCat(": ", NamesText(names, standard ? ValueText(*standard) : ""));
  } else if constexpr (kIsVariant<T>) {
    return absl::StrCat(": ", NamesText(AlternativeNames<T>(), Dashed(AlternativeName(*standard))));
  } else {
    return "";
  }
}

// The default of what is no name, or that there is none.
template <typename T>
std::string DefaultText(const Field& field, const T* standard) {
  if constexpr (std::is_enum_v<T> || kIsVariant<T>) {
    return "";
  } else if constexpr (std::is_same_v<T, bool>) {
    return standard && *standard ? " (default; =false turns it off)" : "";
  } else {
    if (field.required) return " (required)";
    return standard && !ValueText(*standard).empty() ? absl::StrCat(" (default ", ValueText(*standard), ")") : "";
  }
}

// Gathers the declarations of a record's flags.
class Declarer {
 public:
  explicit Declarer(std::vector<FlagDeclaration>& declarations) : declarations_(declarations) {}

  template <Record T>
  void Declare(const std::string& prefix, const std::string& group, const T& record) {
    T::Fields(record, [&](const Field& field, const auto& value) {
      DeclareValue(absl::StrCat(prefix, Dashed(field.name)), group, field, &value);
    });
  }

 private:
  template <typename T>
  void DeclareValue(const std::string& name, const std::string& group, const Field& field, const T* value) {
    if constexpr (kIsOptional<T>) {
      using Value = typename T::value_type;
      const Value made = Value();
      if constexpr (Record<Value>) {
        DeclareValue(name, group, field, &made);
      } else {
        Add<Value>(name, group, field, nullptr);
      }
    } else if constexpr (Record<T>) {
      Declare(name + "-", absl::StrCat(name, ": ", std::string(field.help)), *value);
    } else {
      Add<T>(name, group, field, value);
      if constexpr (kIsVariant<T>) {
        const std::string prefix = name.substr(0, name.size() - field.name.size());
        ForEachAlternative<T>([&](const auto& alternative) {
          DeclareAlternative("--" + name, prefix, alternative);
        });
      }
    }
  }

  template <typename T>
  void Add(const std::string& name, const std::string& group, const Field& field, const T* value) {
    FlagDeclaration& added = declarations_.emplace_back();
    added.flag = "--" + name;
    added.type = TypeOf<T>();
    added.help = absl::StrCat(field.help, NamesOf(value));
    added.standard = DefaultText(field, value);
    added.group = group;
    added.positional = field.required && std::is_same_v<T, std::string>;
    added.check = &CheckValue<T>;
  }

  // Flags that an earlier alternative has as well are declared once.
  template <Record T>
  void DeclareAlternative(const std::string& variant, const std::string& prefix, const T& alternative) {
    std::vector<FlagDeclaration> own;
    Declarer(own).Declare(prefix, absl::StrCat("By ", variant), alternative);
    for (FlagDeclaration& flag : own) {
      flag.sole = own.size() == 1;
      flag.variant = variant;
      flag.alternatives = {Dashed(T::kName)};
      flag.standard = absl::StrCat(Dashed(T::kName), flag.standard);
      const auto same = absl::c_find_if(
          declarations_, [&](const FlagDeclaration& other) { return other.flag == flag.flag; });
      if (same == declarations_.end()) {
        declarations_.push_back(std::move(flag));
      } else {
        same->alternatives.push_back(Dashed(T::kName));
        absl::StrAppend(&same->standard, ", ", flag.standard);
        same->sole = false;
      }
    }
  }

  std::vector<FlagDeclaration>& declarations_;
};

// Sets what flags say in a record.
class Setter {
 public:
  Setter(const std::map<std::string, std::string>& given, const std::vector<FlagDeclaration>& declarations)
      : given_(given), declarations_(declarations) {}

  // `fresh`: the record has nothing but defaults, so that what is required must be given.
  template <Record T>
  void SetRecord(const std::string& prefix, bool fresh, const std::string& owner, T& record) {
    T::Fields(record, [&](const Field& field, auto& value) {
      SetValue(absl::StrCat(prefix, Dashed(field.name)), prefix, field, fresh, owner, value);
    });
  }

  // What was wrong, or that nothing was.
  Outcome Finish() const {
    if (!missing_.empty()) return Usage(absl::StrCat(missing_.front(), " is missing"));
    for (const auto& [flag, text] : given_) {
      if (used_.contains(flag)) continue;
      const auto declaration = absl::c_find_if(
          declarations_, [&, name = flag](const FlagDeclaration& other) { return other.flag == name; });
      return Usage(absl::StrCat(flag, " needs ", declaration->variant, " ",
                                absl::StrJoin(declaration->alternatives, " or ")));
    }
    return {};
  }

 private:
  template <typename T>
  void SetValue(const std::string& name, const std::string& prefix, const Field& field, bool fresh,
                const std::string& owner, T& value) {
    const std::string flag = "--" + name;
    if constexpr (kIsVariant<T>) {
      SetVariant(flag, prefix, fresh, value);
    } else if constexpr (kIsOptional<T>) {
      SetOptional(name, flag, value);
    } else if constexpr (Record<T>) {
      SetRecord(name + "-", fresh, "", value);
    } else if (!Take(flag, value) && field.required && fresh) {
      missing_.push_back(owner.empty() ? flag : absl::StrCat(owner, " needs ", flag, ", which"));
    }
  }

  template <typename T>
  void SetOptional(const std::string& name, const std::string& flag, std::optional<T>& value) {
    if constexpr (Record<T>) {
      const bool asked = absl::c_any_of(
          given_, [&](const auto& item) { return item.first.starts_with(flag + "-"); });
      const bool fresh = !value.has_value();
      if (asked) SetRecord(name + "-", fresh, "", fresh ? value.emplace() : *value);
    } else {
      T taken{};
      if (Take(flag, taken)) value = taken;
    }
  }

  template <typename T>
  void SetVariant(const std::string& flag, const std::string& prefix, bool fresh, T& value) {
    const size_t before = value.index();
    T chosen = value;
    const bool named = Take(flag, chosen);
    if (!named) Imply(flag, chosen);
    const bool changed = chosen.index() != before;
    if (changed) value = chosen;
    std::visit(
        [&]<typename Alternative>(Alternative& alternative) {
          if constexpr (!std::is_same_v<Alternative, std::monostate>) {
            const std::string owner = absl::StrCat(flag, " ", Dashed(Alternative::kName));
            SetRecord(prefix, fresh || changed, owner, alternative);
          }
        },
        value);
  }

  // Chooses the alternative that has nothing but one flag that was given.
  template <typename T>
  void Imply(const std::string& variant, T& chosen) const {
    for (const FlagDeclaration& flag : declarations_) {
      if (flag.variant != variant || !flag.sole || !given_.contains(flag.flag)) continue;
      ParseAlternative(flag.alternatives.front(), chosen).IgnoreError();
    }
  }

  // Texts have been checked when they were parsed.
  template <typename T>
  bool Take(const std::string& flag, T& value) {
    const auto found = given_.find(flag);
    if (found == given_.end()) return false;
    used_.insert(flag);
    ParseValue(found->second, value).IgnoreError();
    return true;
  }

  const std::map<std::string, std::string>& given_;
  const std::vector<FlagDeclaration>& declarations_;
  std::set<std::string> used_;
  std::vector<std::string> missing_;
};

}  // namespace

void FieldFlags::AddTo(CLI::App& command, const FamilySpec& family) {
  std::visit([&](const auto& record) { Declarer(declarations_).Declare("", "Table", record); }, family);
  for (const FlagDeclaration& declaration : declarations_) AddFlag(command, declaration);
}

void FieldFlags::AddFlag(CLI::App& command, const FlagDeclaration& declaration) {
  const std::string& flag = declaration.flag;
  const bool shared = !declaration.variant.empty();
  const std::string help = absl::StrCat(declaration.help, shared ? ". With " : "", declaration.standard);
  CLI::Option* option = nullptr;
  if (declaration.type.empty()) {
    const auto set = [this, flag](int64_t count) { given_[flag] = count > 0 ? "true" : "false"; };
    option = command.add_flag_function(flag, set, help);
  } else {
    const std::string names = declaration.positional ? absl::StrCat(flag.substr(2), ",", flag) : flag;
    const auto set = [this, flag](const std::string& text) { given_[flag] = text; };
    option = command.add_option_function<std::string>(names, set, help);
    option->check(declaration.check, "", "")->type_name(declaration.type);
  }
  option->group(declaration.group);
}

const std::string* FieldFlags::Find(const std::string& flag) const {
  const auto found = given_.find(flag);
  return found == given_.end() ? nullptr : &found->second;
}

Outcome FieldFlags::Apply(bool of_model, FamilySpec& family) const {
  Setter setter(given_, declarations_);
  std::visit([&](auto& record) { setter.SetRecord("", /*fresh=*/!of_model, "", record); }, family);
  return setter.Finish();
}

}  // namespace posenc::cli
