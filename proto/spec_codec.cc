#include "proto/spec_codec.h"

#include <variant>

#include "absl/strings/str_join.h"
#include "proto/record_reader.h"
#include "proto/record_writer.h"
#include "server/core/specs/normalize.h"

namespace posenc {
namespace {

// The element types are an enum without EnumNames: their names are upper case.
ElementType DecodeType(absl::string_view path, int value, Violations& bad) {
  constexpr int kLast = static_cast<int>(ElementType::kI32);
  if (value >= 0 && value <= kLast) return static_cast<ElementType>(value);
  bad.Add(path, value, absl::StrCat("0 to ", kLast, ", see the proto"));
  return ElementType::kUnspecified;
}

FamilySpec DecodeFamily(const v1::TableSpec& message, Violations& bad) {
  FamilySpec family;
  const MessageFields fields(message);
  if (fields.Chosen("family") == nullptr) {
    bad.AddText("spec.family", absl::StrCat("is missing; allowed: one of ",
                                            absl::StrJoin(AllFamilyNames(), ", ")));
  }
  ReadOneof(fields, "family", "spec", family, bad);
  return family;
}

}  // namespace

v1::ElementType EncodeElementType(ElementType type) { return static_cast<v1::ElementType>(type); }

absl::StatusOr<ElementType> DecodeElementType(v1::ElementType type) {
  Violations bad;
  const ElementType decoded = DecodeType("element_type", type, bad);
  if (!bad.empty()) return bad.ToStatus();
  return decoded;
}

absl::StatusOr<TableSpec> DecodeSpec(const v1::TableSpec& message) {
  Violations bad;
  TableSpec spec;
  spec.family = DecodeFamily(message, bad);
  spec.element_type = DecodeType("spec.element_type", message.element_type(), bad);
  ReadEnum("spec.arithmetic", message.arithmetic(), spec.arithmetic, bad);
  if (!bad.empty()) return bad.ToStatus();
  return spec;
}

absl::StatusOr<TableSpec> DecodeNormalizedSpec(const v1::TableSpec& message, const TensorCatalog& catalog) {
  absl::StatusOr<TableSpec> spec = DecodeSpec(message);
  if (!spec.ok()) return spec.status();
  absl::StatusOr<TableSpec> normalized = Normalize(*spec);
  if (!normalized.ok()) return PrefixFields(normalized.status(), "spec");
  absl::Status bound = BindTensors(catalog, *normalized);
  if (!bound.ok()) return PrefixFields(bound, "spec");
  return normalized;
}

v1::TableSpec EncodeSpec(const TableSpec& spec) {
  v1::TableSpec message;
  std::visit(
      [&](const auto& family) {
        const ProtoField* field = v1::TableSpec::descriptor()->FindFieldByName(std::string(family.kName));
        WriteRecord(family, *message.GetReflection()->MutableMessage(&message, field));
      },
      spec.family);
  message.set_element_type(EncodeElementType(spec.element_type));
  message.set_arithmetic(static_cast<v1::Arithmetic>(spec.arithmetic));
  return message;
}

}  // namespace posenc
