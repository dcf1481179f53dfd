// Tables by spec, cell by cell, for the tests of biases, maps and learned tables.

#ifndef POSENC_TESTS_UNIT_ENCODINGS_BIAS_FIXTURE_H_
#define POSENC_TESTS_UNIT_ENCODINGS_BIAS_FIXTURE_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "server/core/specs/normalize.h"
#include "server/core/tensor_catalog.h"
#include "server/encodings/exact/stored_value.h"
#include "server/encodings/table_generator.h"
#include "tests/support/matchers.h"
#include "tests/unit/encodings/reference.h"

namespace posenc {

inline constexpr ElementType kEveryRealType[] = {ElementType::kF64, ElementType::kF32, ElementType::kF16,
                                                 ElementType::kBF16};

inline absl::StatusOr<std::shared_ptr<const TableGenerator>> TryMake(
    const FamilySpec& family, ElementType type = ElementType::kUnspecified,
    const TensorCatalog& catalog = EmptyCatalog()) {
  absl::StatusOr<TableSpec> spec = Normalize({.family = family, .element_type = type});
  if (!spec.ok()) return spec.status();
  if (absl::Status bound = BindTensors(catalog, *spec); !bound.ok()) return bound;
  return MakeTableGenerator(*spec, catalog);
}

// The bits of every element of rows [first, first + count) of the only tensor, row-major.
inline std::vector<uint64_t> BitsOf(const TableGenerator& generator, int64_t first, int64_t count) {
  const Buffers buffers = GenerateRows(generator, first, count);
  const TensorShape& tensor = generator.shape().tensors.front();
  std::vector<uint64_t> bits;
  for (int64_t i = 0; i < count * tensor.row_elements(); ++i) {
    bits.push_back(ElementAt(buffers.front(), tensor.element_type, i));
  }
  return bits;
}

// The same as numbers. Requires: a real element type, or I32.
inline std::vector<double> NumbersOf(const TableGenerator& generator, int64_t first, int64_t count) {
  const ElementType type = generator.shape().tensors.front().element_type;
  std::vector<double> numbers;
  for (const uint64_t bits : BitsOf(generator, first, count)) {
    std::byte bytes[8];
    std::memcpy(bytes, &bits, 8);
    numbers.push_back(type == ElementType::kI32 ? static_cast<int32_t>(bits) : LoadStored(type, bytes));
  }
  return numbers;
}

// A stored tensor that owns its elements.
inline StoredTensor StoredF32(std::vector<int64_t> shape, const std::vector<float>& values) {
  const auto owner = std::make_shared<const std::vector<float>>(values);
  return {.element_type = ElementType::kF32,
          .shape = std::move(shape),
          .data = std::as_bytes(std::span<const float>(*owner)),
          .owner = owner,
          .content_sha256 = std::string(64, 'a'),
          .source = "memory"};
}

}  // namespace posenc

#endif  // POSENC_TESTS_UNIT_ENCODINGS_BIAS_FIXTURE_H_
