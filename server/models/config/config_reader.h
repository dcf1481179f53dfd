// Reads values from one object of a config.json, each with the key path that it came from.
//
// An absent key and a null are the same: not said. A value of the wrong kind becomes a violation that
// names the key path, and reading goes on, so that one answer names everything that is wrong.
//
// Every key that is looked for is remembered, so that an answer can name those that nobody read.
// Ownership: a ConfigObject refers into the parsed document, which must outlive it. Not thread-safe.

#ifndef POSENC_SERVER_MODELS_CONFIG_CONFIG_READER_H_
#define POSENC_SERVER_MODELS_CONFIG_CONFIG_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/core/violations.h"
#include "server/models/config/config_json.h"

namespace posenc {

// A value and where it came from.
template <typename T>
struct Found {
  T value{};
  std::string path;        // key path that says it, or that would say it when it is a default
  std::string source;      // what a reader is told: the key path, a formula or the name of a default
  bool defaulted = false;  // the file does not say it
  bool assumed = false;    // and no known class does
};

// Spellings of one key, the first that is there counts.
using KeyNames = std::span<const absl::string_view>;

class ConfigObject {
 public:
  // An object without keys; its path is `path`.
  explicit ConfigObject(std::string path = "") : path_(std::move(path)) {}
  // `object` must be a JSON object.
  ConfigObject(const Json& object, std::string path) : object_(&object), path_(std::move(path)) {}

  // The same as the root of a document whose read keys are remembered.
  static ConfigObject Root(const Json& object);

  // The block that a class has where the file has none: its values are defaults, of `source`.
  static ConfigObject Defaults(const Json& object, std::string path, std::string source);

  // An object inside of this document, at `path`.
  ConfigObject At(const Json& object, std::string path) const;

  // The keys of this object that nobody has looked for, nulls left out.
  std::vector<std::string> UnreadKeys() const;

  bool empty() const { return object_ == nullptr || object_->empty(); }
  const Json* json() const { return object_; }

  // Returns the value of `key`, or null when it is absent or null.
  const Json* Find(absl::string_view key) const;

  // Whether the key is there and not null; asking that is not reading it.
  bool Has(absl::string_view key) const;

  // Whether the key is there with the value null.
  bool SaysNull(absl::string_view key) const;

  // Returns the path of `key`, e.g. "text_config.rope_scaling.factor".
  std::string PathOf(absl::string_view key) const;

  // Returns the object under `key`; one without keys when it is absent, null or (a violation) no object.
  ConfigObject Child(absl::string_view key, Violations& bad) const;

  // Return the first of `keys` that is there, or nothing; a value of another kind is a violation. Numbers
  // may be written as integers or floats, 40 and 40.0 are the same; integers must be whole and within
  // ±2^53.
  std::optional<Found<double>> Number(KeyNames keys, Violations& bad) const;
  std::optional<Found<int64_t>> Integer(KeyNames keys, Violations& bad) const;
  std::optional<Found<bool>> Flag(absl::string_view key, Violations& bad) const;
  std::optional<Found<std::string>> Text(absl::string_view key, Violations& bad) const;

  // Return the list under `key`, or nothing. A list longer than any table is wide is a violation.
  std::optional<Found<std::vector<double>>> Numbers(absl::string_view key, Violations& bad) const;
  std::optional<Found<std::vector<int64_t>>> Integers(absl::string_view key, Violations& bad) const;

  // Whether the value of `key` counts as true where code only asks for that: not absent, null, false, 0, or
  // empty.
  bool IsTruthy(absl::string_view key) const;

  std::optional<Found<double>> Number(absl::string_view key, Violations& bad) const {
    return Number(KeyNames(&key, 1), bad);
  }
  std::optional<Found<int64_t>> Integer(absl::string_view key, Violations& bad) const {
    return Integer(KeyNames(&key, 1), bad);
  }

 private:
  // Returns the first key that is there, or an empty name.
  absl::string_view FirstOf(KeyNames keys) const;

  template <typename T>
  Found<T> FoundAt(absl::string_view key, T value) const;

  void Remember(absl::string_view key) const;

  const Json* object_ = nullptr;
  std::string path_;
  std::string default_source_;  // not empty: all values are defaults
  std::shared_ptr<std::set<std::string>> read_;  // paths of the document's keys; null: not remembered
};

}  // namespace posenc

#endif  // POSENC_SERVER_MODELS_CONFIG_CONFIG_READER_H_
