#include "server/core/specs/normalize.h"

#include <variant>

#include "server/core/names.h"
#include "server/core/specs/field_checks.h"

namespace posenc {
namespace {

bool IsReal(ElementType type) { return type >= ElementType::kF64 && type <= ElementType::kBF16; }

// Maps hold integers, learned tables what was stored; all else is F32 unless another type is asked for.
void SetDefaultElementType(TableSpec& spec) {
  if (spec.element_type != ElementType::kUnspecified) return;
  const auto* buckets = std::get_if<RelativeBucketSpec>(&spec.family);
  const bool map = buckets && buckets->weight.empty();
  if (std::holds_alternative<LearnedSpec>(spec.family)) return;
  spec.element_type = map ? ElementType::kI32 : ElementType::kF32;
}

void CheckElementType(const TableSpec& spec, Violations& bad) {
  const auto* buckets = std::get_if<RelativeBucketSpec>(&spec.family);
  if (buckets && buckets->weight.empty()) {
    if (spec.element_type != ElementType::kI32) {
      bad.Add("element_type", ElementTypeName(spec.element_type), "I32 for a map of buckets");
    }
    return;
  }
  if (!IsReal(spec.element_type) && spec.element_type != ElementType::kUnspecified) {
    bad.Add("element_type", ElementTypeName(spec.element_type), "F64, F32, F16, BF16");
  }
  const auto* rope = std::get_if<RopeSpec>(&spec.family);
  const bool half_width = ElementSizeBytes(spec.element_type) == 2;
  if (rope && rope->layout == RopeLayout::kComplex && half_width) {
    bad.Add("element_type", ElementTypeName(spec.element_type), "F32 or F64 with layout complex");
  }
}

// An odd head can only rotate a part of itself; told together with fields out of their range.
void CheckHeadDim(const TableSpec& spec, Violations& bad) {
  const auto* rope = std::get_if<RopeSpec>(&spec.family);
  if (!rope || rope->head_dim < 2 || rope->head_dim % 2 == 0) return;
  const bool whole = rope->rotary_dim == 0 || rope->rotary_dim == rope->head_dim;
  if (whole) bad.Add("rope.head_dim", rope->head_dim, "an even number, or an even rotary_dim beside it");
}

// Only tables that a float32 pipeline makes somewhere can be asked for in its arithmetic.
void CheckArithmetic(const TableSpec& spec, Violations& bad) {
  if (spec.arithmetic == Arithmetic::kExact) return;
  const bool rope = std::holds_alternative<RopeSpec>(spec.family);
  const bool sinusoidal = std::holds_alternative<SinusoidalSpec>(spec.family) ||
                          std::holds_alternative<GridSinusoidalSpec>(spec.family);
  if (rope || (sinusoidal && spec.arithmetic == Arithmetic::kFloat32)) return;
  bad.Add("arithmetic", NameOf(spec.arithmetic), sinusoidal ? "exact, float32" : "exact with this family");
}

absl::Status Bind(absl::string_view field, const std::string& name, absl::string_view digest_field,
                  const TensorCatalog& catalog, std::string& digest, const StoredTensor*& tensor) {
  const absl::StatusOr<const StoredTensor*> found = catalog.Find(name, field);
  if (!found.ok()) return found.status();
  tensor = *found;
  if (!digest.empty() && digest != tensor->content_sha256) {
    Violations bad;
    bad.Add(digest_field, digest, absl::StrCat(tensor->content_sha256, ", of ", tensor->source));
    return bad.ToStatus(absl::StatusCode::kFailedPrecondition);
  }
  digest = tensor->content_sha256;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TableSpec> Normalize(const TableSpec& spec) {
  TableSpec normalized = spec;
  Violations bad;
  std::visit([&](const auto& family) { CheckFields(family.kName, family, bad); }, normalized.family);
  CheckHeadDim(normalized, bad);
  if (!bad.empty()) return bad.ToStatus();
  absl::Status status =
      std::visit([](auto& family) { return NormalizeFamily(family); }, normalized.family);
  if (!status.ok()) return status;
  SetDefaultElementType(normalized);
  CheckElementType(normalized, bad);
  CheckArithmetic(normalized, bad);
  if (!bad.empty()) return bad.ToStatus();
  return normalized;
}

absl::Status BindTensors(const TensorCatalog& catalog, TableSpec& normalized) {
  const StoredTensor* tensor = nullptr;
  if (auto* learned = std::get_if<LearnedSpec>(&normalized.family)) {
    absl::Status status = Bind("learned.name", learned->name, "learned.content_sha256", catalog,
                               learned->content_sha256, tensor);
    if (!status.ok()) return status;
    if (normalized.element_type == ElementType::kUnspecified) normalized.element_type = tensor->element_type;
  }
  auto* buckets = std::get_if<RelativeBucketSpec>(&normalized.family);
  if (buckets == nullptr || buckets->weight.empty()) return absl::OkStatus();
  return Bind("relative_bucket.weight", buckets->weight, "relative_bucket.weight_sha256", catalog,
              buckets->weight_sha256, tensor);
}

}  // namespace posenc
