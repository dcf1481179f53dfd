#include "server/core/element_type.h"

#include <array>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace posenc {
namespace {

struct Row {
  ElementType type;
  size_t size_bytes;
  absl::string_view name;
  std::array<absl::string_view, 4> aliases;  // lower case
};

constexpr std::array<Row, 8> kRows = {{
    {ElementType::kUnspecified, 0, "unspecified", {"unspecified", "unspecified", "unspecified", "unspecified"}},
    {ElementType::kF64, 8, "F64", {"f64", "float64", "double", "fp64"}},
    {ElementType::kF32, 4, "F32", {"f32", "float32", "float", "fp32"}},
    {ElementType::kF16, 2, "F16", {"f16", "float16", "half", "fp16"}},
    {ElementType::kBF16, 2, "BF16", {"bf16", "bfloat16", "bf16", "bf16"}},
    {ElementType::kComplex64, 8, "C64", {"c64", "complex64", "c64", "c64"}},
    {ElementType::kComplex128, 16, "C128", {"c128", "complex128", "c128", "c128"}},
    {ElementType::kI32, 4, "I32", {"i32", "int32", "int", "i32"}},
}};

const Row& RowOf(ElementType type) { return kRows[static_cast<size_t>(type)]; }

}  // namespace

size_t ElementSizeBytes(ElementType type) { return RowOf(type).size_bytes; }

absl::string_view ElementTypeName(ElementType type) { return RowOf(type).name; }

absl::StatusOr<ElementType> ParseElementType(absl::string_view name) {
  const std::string lower = absl::AsciiStrToLower(name);
  for (const Row& row : kRows) {
    for (absl::string_view alias : row.aliases) {
      if (lower == alias) return row.type;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("element type '", lower, "' is unknown; allowed: F64, F32, F16, BF16, I32"));
}

}  // namespace posenc
