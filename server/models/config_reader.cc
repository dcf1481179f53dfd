#include "server/models/config_reader.h"

#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/core/limits.h"

namespace posenc {
namespace {

template <typename T>
Found<T> FoundAt(T value, std::string path) {
  return {std::move(value), path, path, false};
}

// Whole numbers up to here are exact as doubles, and as text they are plain digits.
constexpr double kMaxWhole = static_cast<double>(limits::kMaxPosition);

bool IsWhole(double value) { return std::abs(value) <= kMaxWhole && value == std::trunc(value); }

}  // namespace

const Json* ConfigObject::Find(absl::string_view key) const {
  if (object_ == nullptr) return nullptr;
  const auto found = object_->find(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigObject::SaysNull(absl::string_view key) const {
  if (object_ == nullptr) return false;
  const auto found = object_->find(std::string(key));
  return found != object_->end() && found->is_null();
}

std::string ConfigObject::PathOf(absl::string_view key) const {
  return absl::StrCat(path_, path_.empty() ? "" : ".", PathPart(key));
}

ConfigObject ConfigObject::Child(absl::string_view key, Violations& bad) const {
  const Json* value = Find(key);
  if (value != nullptr && value->is_object()) return ConfigObject(*value, PathOf(key));
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
  if (value.is_number()) return FoundAt(value.get<double>(), PathOf(key));
  bad.Add(PathOf(key), Describe(value), "a number");
  return std::nullopt;
}

std::optional<Found<int64_t>> ConfigObject::Integer(KeyNames keys, Violations& bad) const {
  const absl::string_view key = FirstOf(keys);
  if (key.empty()) return std::nullopt;
  const Json& value = *Find(key);
  if (value.is_number() && IsWhole(value.get<double>())) {
    return FoundAt(static_cast<int64_t>(value.get<double>()), PathOf(key));
  }
  bad.Add(PathOf(key), Describe(value), "a whole number");
  return std::nullopt;
}

std::optional<Found<bool>> ConfigObject::Flag(absl::string_view key, Violations& bad) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return FoundAt(value->get<bool>(), PathOf(key));
  bad.Add(PathOf(key), Describe(*value), "true or false");
  return std::nullopt;
}

std::optional<Found<std::string>> ConfigObject::Text(absl::string_view key, Violations& bad) const {
  const Json* value = Find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return FoundAt(value->get_ref<const std::string&>(), PathOf(key));
  bad.Add(PathOf(key), Describe(*value), "a string");
  return std::nullopt;
}

std::string NumberText(double value) {
  constexpr double kPlainBelow = 1e15;
  if (IsWhole(value) && std::abs(value) < kPlainBelow) return absl::StrCat(static_cast<int64_t>(value));
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof(digits), value);
  return std::string(digits, end.ptr);
}

}  // namespace posenc
