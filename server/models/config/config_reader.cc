#include "server/models/config/config_reader.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/core/limits.h"

namespace posenc {
namespace {

// Whole numbers up to here are exact as doubles, and as text they are plain digits.
constexpr double kMaxWhole = static_cast<double>(limits::kMaxPosition);

bool IsWhole(double value) { return std::abs(value) <= kMaxWhole && value == std::trunc(value); }

}  // namespace

ConfigObject ConfigObject::Defaults(const Json& object, std::string path, std::string source) {
  ConfigObject defaults(object, std::move(path));
  defaults.default_source_ = std::move(source);
  return defaults;
}

ConfigObject ConfigObject::Root(const Json& object) {
  ConfigObject root(object, "");
  root.read_ = std::make_shared<std::set<std::string>>();
  return root;
}

ConfigObject ConfigObject::At(const Json& object, std::string path) const {
  ConfigObject inner(object, std::move(path));
  inner.default_source_ = default_source_;
  inner.read_ = read_;
  return inner;
}

void ConfigObject::Remember(absl::string_view key) const {
  if (read_ != nullptr) read_->insert(absl::StrCat(path_, ".", key));
}

std::vector<std::string> ConfigObject::UnreadKeys() const {
  std::vector<std::string> keys;
  if (object_ == nullptr || read_ == nullptr || !object_->is_object()) return keys;
  for (const auto& item : object_->items()) {
    const bool read = read_->contains(absl::StrCat(path_, ".", item.key()));
    if (!read && !item.value().is_null()) keys.push_back(item.key());
  }
  return keys;
}

template <typename T>
Found<T> ConfigObject::FoundAt(absl::string_view key, T value) const {
  const bool defaulted = !default_source_.empty();
  return {std::move(value), PathOf(key), defaulted ? default_source_ : PathOf(key), defaulted};
}

const Json* ConfigObject::Find(absl::string_view key) const {
  if (object_ == nullptr) return nullptr;
  Remember(key);
  const auto found = object_->find(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigObject::Has(absl::string_view key) const {
  if (object_ == nullptr) return false;
  const auto found = object_->find(std::string(key));
  return found != object_->end() && !found->is_null();
}

bool ConfigObject::SaysNull(absl::string_view key) const {
  if (object_ == nullptr) return false;
  Remember(key);
  const auto found = object_->find(std::string(key));
  return found != object_->end() && found->is_null();
}

std::string ConfigObject::PathOf(absl::string_view key) const {
  return absl::StrCat(path_, path_.empty() ? "" : ".", PathPart(key));
}

ConfigObject ConfigObject::Child(absl::string_view key, Violations& bad) const {
  const Json* value = Find(key);
  if (value != nullptr && value->is_object()) return At(*value, PathOf(key));
  if (value != nullptr) bad.Add(PathOf(key), Describe(*value), "an object or null");
  return ConfigObject(PathOf(key));
}

absl::string_view ConfigObject::FirstOf(KeyNames keys) const {
  for (const absl::string_view key : keys) {
    if (Find(key) != nullptr) return key;
  }
  return {};
}

std::optional<Found<double>> ConfigObject::Number(KeyNames keys, Violations& bad) const {
  const absl::string_view key = FirstOf(keys);
  if (key.empty()) return std::nullopt;
  const Json& value = *Find(key);
  if (value.is_number() && std::isfinite(value.get<double>())) return FoundAt(key, value.get<double>());
  bad.Add(PathOf(key), Describe(value), "a number");
  return std::nullopt;
}

std::optional<Found<int64_t>> ConfigObject::Integer(KeyNames keys, Violations& bad) const {
  const absl::string_view key = FirstOf(keys);
  if (key.empty()) return std::nullopt;
  const Json& value = *Find(key);
  if (value.is_number() && IsWhole(value.get<double>())) {
    return FoundAt(key, static_cast<int64_t>(value.get<double>()));
  }
  bad.Add(PathOf(key), Describe(value), "a whole number");
  return std::nullopt;
}

std::optional<Found<bool>> ConfigObject::Flag(absl::string_view key, Violations& bad) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return FoundAt(key, value->get<bool>());
  bad.Add(PathOf(key), Describe(*value), "true or false");
  return std::nullopt;
}

std::optional<Found<std::string>> ConfigObject::Text(absl::string_view key, Violations& bad) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return FoundAt(key, value->get_ref<const std::string&>());
  bad.Add(PathOf(key), Describe(*value), "a string");
  return std::nullopt;
}

std::optional<Found<std::vector<double>>> ConfigObject::Numbers(absl::string_view key,
                                                                Violations& bad) const {
  const Json* list = Find(key);
  if (list == nullptr) return std::nullopt;
  if (!list->is_array() || list->size() > static_cast<size_t>(limits::kMaxWidth)) {
    bad.Add(PathOf(key), Describe(*list), "a list of numbers, no longer than a table is wide");
    return std::nullopt;
  }
  std::vector<double> numbers;
  for (const Json& value : *list) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      bad.Add(absl::StrCat(PathOf(key), "[", numbers.size(), "]"), Describe(value), "a number");
      return std::nullopt;
    }
    numbers.push_back(value.get<double>());
  }
  return FoundAt(key, std::move(numbers));
}

std::optional<Found<std::vector<int64_t>>> ConfigObject::Integers(absl::string_view key,
                                                                  Violations& bad) const {
  const auto numbers = Numbers(key, bad);
  if (!numbers) return std::nullopt;
  std::vector<int64_t> integers;
  for (const double number : numbers->value) {
    if (!IsWhole(number)) {
      bad.Add(absl::StrCat(PathOf(key), "[", integers.size(), "]"), number, "a whole number");
      return std::nullopt;
    }
    integers.push_back(static_cast<int64_t>(number));
  }
  return FoundAt(key, std::move(integers));
}

bool ConfigObject::IsTruthy(absl::string_view key) const {
  const Json* value = Find(key);
  if (value == nullptr) return false;
  if (value->is_number()) return value->get<double>() != 0;
  if (value->is_string()) return !value->get_ref<const std::string&>().empty();
  return value->is_boolean() ? value->get<bool>() : !value->empty();
}

}  // namespace posenc
