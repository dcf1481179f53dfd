#include "server/core/table_key.h"

#include <openssl/sha.h>

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "server/core/names.h"

namespace posenc {
namespace {

template <Record T>
void WriteRecord(const T& record, const std::string& prefix, std::string& text);

std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(bool value) { return value ? "1" : "0"; }
std::string Text(double value) { return absl::StrFormat("%a", value); }
std::string Text(const std::string& value) { return absl::CEscape(value); }
template <Named Enum>
std::string Text(Enum value) {
  return std::string(NameOf(value));
}
template <typename T>
std::string Text(const std::vector<T>& values) {
  return absl::StrJoin(values, ",", [](std::string* out, T value) { out->append(Text(value)); });
}

// Appends the lines of one field: "name=value"; for a record its own fields behind "name.", for a variant
// the alternative's name and its fields.
template <typename T>
void WriteField(const std::string& prefix, absl::string_view name, const T& value, std::string& text) {
  if constexpr (kIsOptional<T>) {
    if (value) return WriteField(prefix, name, *value, text);
    absl::StrAppend(&text, prefix, name, "=none\n");
  } else if constexpr (kIsVariant<T>) {
    absl::StrAppend(&text, prefix, name, "=", AlternativeName(value), "\n");
    std::visit(
        [&]<typename Alternative>(const Alternative& alternative) {
          if constexpr (Record<Alternative>) WriteRecord(alternative, prefix, text);
        },
        value);
  } else if constexpr (Record<T>) {
    WriteRecord(value, absl::StrCat(prefix, name, "."), text);
  } else {
    absl::StrAppend(&text, prefix, name, "=", Text(value), "\n");
  }
}

struct FieldLines {
  bool later;
  std::string lines;
};

template <Record T>
std::vector<FieldLines> LinesOf(const T& record, const std::string& prefix) {
  std::vector<FieldLines> all;
  T::Fields(record, [&](const Field& field, const auto& value) {
    FieldLines& lines = all.emplace_back(FieldLines{field.later, ""});
    WriteField(prefix, field.name, value, lines.lines);
  });
  return all;
}

// Leaves out fields that joined later and are at their default.
template <Record T>
void WriteRecord(const T& record, const std::string& prefix, std::string& text) {
  const std::vector<FieldLines> lines = LinesOf(record, prefix);
  std::vector<FieldLines> defaults;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].later) {
      if (defaults.empty()) defaults = LinesOf(T(), prefix);
      if (lines[i].lines == defaults[i].lines) continue;
    }
    text.append(lines[i].lines);
  }
}

}  // namespace

std::string TableKey::ToHex() const {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

absl::StatusOr<TableKey> TableKey::FromHex(absl::string_view hex) {
  bool valid = hex.size() == 64;
  for (char c : hex) valid = valid && absl::ascii_isxdigit(static_cast<unsigned char>(c));
  if (!valid) {
    return absl::InvalidArgumentError(
        absl::StrCat("table key '", absl::CHexEscape(hex.substr(0, 80)), "'; allowed: 64 hex digits"));
  }
  TableKey key;
  const std::string bytes = absl::HexStringToBytes(hex);
  for (size_t i = 0; i < key.digest.size(); ++i) key.digest[i] = static_cast<uint8_t>(bytes[i]);
  return key;
}

std::string CanonicalText(const TableSpec& normalized) {
  std::string text = absl::StrCat("posenc.table/1\nfamily=", FamilyName(normalized.family),
                                  "\nelement_type=", ElementTypeName(normalized.element_type),
                                  "\narithmetic=", NameOf(normalized.arithmetic), "\n");
  std::visit([&](const auto& family) { WriteRecord(family, "", text); }, normalized.family);
  return text;
}

TableKey KeyOf(const TableSpec& normalized) {
  const std::string text = CanonicalText(normalized);
  TableKey key;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), key.digest.data());
  return key;
}

}  // namespace posenc
