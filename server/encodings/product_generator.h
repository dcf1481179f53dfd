// The generator of angles p·w_k, of the frequencies w_k themselves, and of periods 1 / w_k.
//
// Each cell is a product of an integer and a real constant (exact/multiplier.h), first in double
// with a rounding test, then in 126 bits, then by Ziv's method. Where w_k is a double, the product
// is exact and ties go to even. Threads: immutable.

#ifndef POSENC_SERVER_ENCODINGS_PRODUCT_GENERATOR_H_
#define POSENC_SERVER_ENCODINGS_PRODUCT_GENERATOR_H_

#include <cstdint>
#include <vector>

#include "server/encodings/exact/frequency_rule.h"
#include "server/encodings/exact/multiplier.h"
#include "server/encodings/table_generator.h"

namespace posenc {

// a0 a1 …; the list twice; each twice.
enum class ProductForm : uint8_t { kOnce, kDuplicated, kRepeated };

struct ProductTable {
  FrequencyRule rule;
  bool inverted = false;  // 1 / w_k instead of w_k
  ElementType element_type = ElementType::kF32;
  ProductForm form = ProductForm::kOnce;
  TableShape shape;  // kSingle: one row, of the constants
};

class ProductGenerator final : public TableGenerator {
 public:
  explicit ProductGenerator(const ProductTable& table);

  const TableShape& shape() const override { return shape_; }
  const TableFacts& facts() const override { return facts_; }
  size_t footprint_bytes() const override;
  void Generate(int64_t first_row, int64_t row_count,
                std::span<std::byte* const> out) const override;
  void GenerateAt(std::span<const int64_t> positions,
                  std::span<std::byte* const> out) const override;

 private:
  void WriteRow(int64_t factor, std::byte* row) const;
  uint64_t Cell(int64_t factor, int64_t k) const;

  FrequencyRule rule_;
  bool inverted_;
  ElementType type_;
  ProductForm form_;
  TableShape shape_;
  TableFacts facts_;
  std::vector<Multiplier> multipliers_;
};

}  // namespace posenc

#endif  // POSENC_SERVER_ENCODINGS_PRODUCT_GENERATOR_H_
