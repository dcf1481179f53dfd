#include "server/models/families/model_scope.h"

#include "absl/strings/str_cat.h"

namespace posenc {

std::string ModelScope::DefaultSource() const {
  if (!known) return "assumed for an unknown model_type";
  return absl::StrCat("default of ", family->class_name);
}

std::optional<Found<int64_t>> ModelScope::IntegerOr(ConfigKey key, int64_t family_default,
                                                    Violations& bad) const {
  const KeyNames names = KeysOf(key);
  const std::optional<Found<int64_t>> found = object.Integer(names, bad);
  if (found || family_default == 0) return found;
  return Default(family_default, names.front());
}

Found<int64_t> ModelScope::Required(ConfigKey key, int64_t family_default, Violations& bad) const {
  const auto found = IntegerOr(key, family_default, bad);
  const std::string path = object.PathOf(KeysOf(key).front());
  if (!found && bad.empty()) bad.AddText(path, "is missing; allowed: a whole number");
  return found.value_or(Found<int64_t>{1, path, path, false});
}

Found<int64_t> ModelScope::MaxLenOr(int64_t spec_default, Violations& bad) const {
  // A tokenizer's "no limit", 10^30, says nothing.
  constexpr absl::string_view kUnlimited = "model_max_length";
  const Json* unlimited = object.Find(kUnlimited);
  const bool none = unlimited != nullptr && unlimited->is_number() && unlimited->get<double>() > 1e15 &&
                    object.Find(KeysOf(ConfigKey::kMaxLen).front()) == nullptr;
  const auto found = none && family->max_len != 0 ? Default(family->max_len, kUnlimited)
                     : none                       ? std::nullopt
                                                  : IntegerOr(ConfigKey::kMaxLen, family->max_len, bad);
  return found.value_or(Found<int64_t>{spec_default, object.PathOf(KeysOf(ConfigKey::kMaxLen).front()),
                                       "default of posenc", true, true});
}

}  // namespace posenc
