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

// Appends "name=value" lines.
class CanonicalWriter {
 public:
  void Line(absl::string_view name, absl::string_view value) {
    absl::StrAppend(&text_, name, "=", value, "\n");
  }
  void Line(absl::string_view name, int64_t value) { Line(name, absl::StrCat(value)); }
  void Line(absl::string_view name, double value) { Line(name, Hex(value)); }
  void Line(absl::string_view name, const std::vector<double>& values) {
    Line(name, absl::StrJoin(values, ",", [](std::string* out, double value) {
           absl::StrAppend(out, Hex(value));
         }));
  }
  std::string text() && { return std::move(text_); }

 private:
  static std::string Hex(double value) { return absl::StrFormat("%a", value); }
  std::string text_ = "posenc.table/1\n";
};

void Write(const SinusoidalSpec& spec, CanonicalWriter& out) {
  out.Line("d_model", spec.d_model);
  out.Line("max_len", spec.max_len);
  out.Line("base", spec.base);
  out.Line("order", NameOf(spec.order));
  out.Line("frequency_shift", spec.frequency_shift);
  out.Line("odd_width", NameOf(spec.odd_width.value_or(OddWidth::kReject)));
  out.Line("clamp_denominator", int64_t{spec.clamp_denominator});
  out.Line("first_position", spec.first_position);
  out.Line("zero_row", spec.zero_row ? absl::StrCat(*spec.zero_row) : "none");
  out.Line("position_scale", spec.position_scale);
  out.Line("row_scale", spec.row_scale);
}

void WriteScaling(const std::monostate&, CanonicalWriter& out) { out.Line("scaling", "none"); }

void WriteScaling(const LinearScaling& scaling, CanonicalWriter& out) {
  out.Line("scaling", "linear");
  out.Line("factor", scaling.factor);
}

void WriteScaling(const Llama3Scaling& scaling, CanonicalWriter& out) {
  out.Line("scaling", "llama3");
  out.Line("factor", scaling.factor);
  out.Line("low_freq_factor", scaling.low_freq_factor);
  out.Line("high_freq_factor", scaling.high_freq_factor);
  out.Line("original_max_len", scaling.original_max_len);
}

void WriteScaling(const ExplicitFrequencies& scaling, CanonicalWriter& out) {
  out.Line("scaling", "frequencies");
  out.Line("inverse_frequencies", scaling.inverse_frequencies);
}

void Write(const RopeSpec& spec, CanonicalWriter& out) {
  out.Line("head_dim", spec.head_dim);
  out.Line("rotary_dim", spec.rotary_dim);
  out.Line("max_len", spec.max_len);
  out.Line("base", spec.base);
  std::visit([&](const auto& scaling) { WriteScaling(scaling, out); }, spec.scaling);
  out.Line("layout", NameOf(spec.layout));
  out.Line("first_position", spec.first_position);
}

void Write(const AlibiSpec& spec, CanonicalWriter& out) {
  out.Line("heads", spec.heads);
  out.Line("max_len", spec.max_len);
  out.Line("bias_max", spec.bias_max);
  out.Line("slope_rule", NameOf(spec.slope_rule));
  out.Line("form", NameOf(spec.form));
  out.Line("masked", int64_t{spec.masked});
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
  CanonicalWriter out;
  out.Line("family", FamilyName(normalized.family));
  out.Line("element_type", ElementTypeName(normalized.element_type));
  out.Line("arithmetic", NameOf(normalized.arithmetic));
  std::visit([&](const auto& family) { Write(family, out); }, normalized.family);
  return std::move(out).text();
}

TableKey KeyOf(const TableSpec& normalized) {
  const std::string text = CanonicalText(normalized);
  TableKey key;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), key.digest.data());
  return key;
}

}  // namespace posenc
